// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/audit"
)

// oneStream is room for one connection.
var oneStream = Limits{Streams: 1, StreamsPerUser: 1}

func TestOpenLogAsksForThePodAsTheServer(t *testing.T) {
	c := newCluster(t)
	access, err := New(c.config, oneStream, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(audit.WithAuditContext(t.Context()))
	defer cancel()
	audit.WithAuditID(ctx, "the-audit-id")
	pod := types.NamespacedName{Namespace: "default", Name: "web-1"}
	log, err := access.OpenLog(ctx, pod, &corev1.PodLogOptions{Container: "main", Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	request := c.requests[0]
	if got, want := request.URL.String(), "/api/v1/namespaces/default/pods/web-1/log?container=main&follow=true"; got != want {
		t.Errorf("it asks for %s, want %s", got, want)
	}
	if request.Proto != "HTTP/1.1" || request.Header.Get("Authorization") != "Bearer of-the-server" || request.Header.Get("Audit-Id") != "the-audit-id" {
		t.Errorf("it asks by %s with %v", request.Proto, request.Header)
	}
	line := make([]byte, len("a line\n"))
	if _, err := io.ReadFull(log, line); err != nil || string(line) != "a line\n" {
		t.Errorf("got %q, %v", line, err)
	}

	if _, err := access.OpenLog(ctx, pod, &corev1.PodLogOptions{}); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "--max-pod-streams") {
		t.Errorf("one more: %v", err)
	}
	if err := access.CheckRoom(t.Context(), 1); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the room for one more: %v", err)
	}
	cancel()
	if _, err := io.ReadAll(log); err == nil {
		t.Error("a request that is done ends as if there was no more")
	}
	for range 2 { // it is given back once
		log.Close()
	}
	if err := access.CheckRoom(t.Context(), 1); err != nil {
		t.Errorf("the room for another one: %v", err)
	}
	eventually(t, "the connection to the cluster ends", func() bool { return c.open.Load() == 0 })
}

func TestOpenLogPassesOnARefusal(t *testing.T) {
	access, err := New(newCluster(t).config, oneStream, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := access.OpenLog(t.Context(), types.NamespacedName{Namespace: "default", Name: "away"}, &corev1.PodLogOptions{}); err == nil || !strings.Contains(err.Error(), "the kubelet is away") {
		t.Errorf("got %v", err)
	}
	if err := access.CheckRoom(t.Context(), 1); err != nil {
		t.Errorf("the room is not given back: %v", err)
	}
}

func TestLogOfARequestThatIsDoneEndsWithAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := &openLog{ctx, io.NopCloser(strings.NewReader("a line\n")), func() {}}
	cancel()
	if line, err := io.ReadAll(log); string(line) != "a line\n" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, %v", line, err)
	}
}
