// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
)

func TestStreams(t *testing.T) {
	as := func(name string) context.Context { return request.WithUser(t.Context(), &user.DefaultInfo{Name: name}) }
	s := newStreams(Limits{Streams: 4, StreamsPerNamespace: 3, StreamsPerUser: 2})
	var releases []func()
	for _, row := range []struct {
		user, namespace string
		refusal         string
	}{
		{"alice", "shop", ""},
		{"alice", "shop", ""},
		{"alice", "mail", "alice has 2 connections to pods on this server, the limit of --max-pod-streams-per-user is 2"},
		{"bob", "shop", ""},
		{"bob", "shop", `the namespace "shop" has 3 connections to pods on this server, the limit of --max-pod-streams-per-namespace is 3`},
		{"carol", "shop", `the namespace "shop" has 3 connections to pods on this server, the limit of --max-pod-streams-per-namespace is 3`},
		{"bob", "mail", ""},
		{"carol", "mail", "this server has 4 connections to pods, the limit of --max-pod-streams is 4"},
	} {
		checked := s.checkRoom(as(row.user), row.namespace, 1)
		release, err := s.acquire(as(row.user), row.namespace)
		if (checked == nil) != (err == nil) {
			t.Errorf("%s in %s: the room was %v, and then %v", row.user, row.namespace, checked, err)
		}
		if err == nil {
			releases = append(releases, release)
		} else if seconds, isDelayed := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !isDelayed || seconds < 1 {
			t.Errorf("%s in %s: not 429 with Retry-After: %v", row.user, row.namespace, err)
		}
		if message := messageOf(err); (message == "") != (row.refusal == "") || !strings.HasPrefix(message, row.refusal) {
			t.Errorf("%s in %s: got %q, want %q", row.user, row.namespace, message, row.refusal)
		}
	}
	if err := s.checkRoom(as("carol"), "mail", 0); err != nil {
		t.Errorf("room for none: %v", err)
	}

	for _, release := range releases {
		release()
		release() // only the first call counts
	}
	if err := s.checkRoom(as("alice"), "shop", 2); err != nil {
		t.Errorf("after all have ended: %v", err)
	}
	if err := s.checkRoom(as("alice"), "shop", 3); !apierrors.IsTooManyRequests(err) {
		t.Errorf("room for three: %v", err)
	}
	if s.total != 0 || len(s.byNamespace) != 0 || len(s.byUser) != 0 {
		t.Errorf("it remembers %d of %v and %v", s.total, s.byNamespace, s.byUser)
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
