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
var oneStream = Limits{Streams: 1, StreamsPerNamespace: 1, StreamsPerUser: 1}

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
	openLog, err := access.AdmitLogs(ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	log, err := openLog(ctx, pod, &corev1.PodLogOptions{Container: "main", Follow: true})
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

	if _, err := openLog(ctx, pod, &corev1.PodLogOptions{}); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "--max-pod-streams") {
		t.Errorf("one more: %v", err)
	}
	cancel()
	if _, err := io.ReadAll(log); err == nil {
		t.Error("a request that is done ends as if there was no more")
	}
	log.Close()
	eventually(t, "the connection to the cluster ends", func() bool { return c.open.Load() == 0 })
}

func TestOpenLogPassesOnARefusal(t *testing.T) {
	access, err := New(newCluster(t).config, oneStream, nil)
	if err != nil {
		t.Fatal(err)
	}
	openLog, err := access.AdmitLogs(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the room for a log is given back
		if _, err := openLog(t.Context(), types.NamespacedName{Namespace: "default", Name: "away"}, &corev1.PodLogOptions{}); err == nil || !strings.Contains(err.Error(), "the kubelet is unavailable") {
			t.Errorf("got %v", err)
		}
	}
}

func TestLogsCountAsStreams(t *testing.T) {
	access, err := New(newCluster(t).config, Limits{Streams: 10, StreamsPerNamespace: 2, StreamsPerUser: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	expectRoom := func(when string, room int) {
		t.Helper()
		if err := access.CheckRoom(t.Context(), "default", room); err != nil {
			t.Errorf("%s: the room for %d: %v", when, room, err)
		}
		if err := access.CheckRoom(t.Context(), "default", room+1); !apierrors.IsTooManyRequests(err) {
			t.Errorf("%s: the room for %d: %v", when, room+1, err)
		}
	}
	openLog, err := access.AdmitLogs(ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	open := func() io.ReadCloser {
		t.Helper()
		log, err := openLog(ctx, types.NamespacedName{Namespace: "default", Name: "web-1"}, &corev1.PodLogOptions{Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	expectRoom("before a log is open", 1)
	first := open()
	expectRoom("with one log", 1)
	second := open()
	expectRoom("with two logs", 0)
	for range 2 { // it is given back once
		first.Close()
	}
	expectRoom("with the second log", 0)
	first = open()
	for range 2 {
		second.Close()
	}
	expectRoom("with one log again", 1)
	first.Close()
	expectRoom("without a log", 1)
	cancel()
	eventually(t, "the stream ends with the request", func() bool { return access.CheckRoom(t.Context(), "default", 2) == nil })
}

func TestLogOfARequestThatIsDoneEndsWithAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := &openLog{ctx, io.NopCloser(strings.NewReader("a line\n")), func() {}}
	cancel()
	if line, err := io.ReadAll(log); string(line) != "a line\n" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %q, %v", line, err)
	}
}
