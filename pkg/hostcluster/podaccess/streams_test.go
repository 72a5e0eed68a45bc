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
	s := newStreams(Limits{Streams: 3, StreamsPerUser: 2})
	var releases []func()
	for _, row := range []struct {
		user    string
		refusal string
	}{
		{"alice", ""},
		{"alice", ""},
		{"alice", "alice has 2 connections to pods at this server, and 2 are all that --max-pod-streams-per-user allows"},
		{"bob", ""},
		{"bob", "this server has 3 connections to pods, and 3 are all that --max-pod-streams allows"},
	} {
		checked := s.checkRoom(as(row.user), 1)
		release, err := s.acquire(as(row.user))
		if (checked == nil) != (err == nil) {
			t.Errorf("%s: the room was %v, and then %v", row.user, checked, err)
		}
		switch {
		case err == nil:
			releases = append(releases, release)
		case !apierrors.IsTooManyRequests(err):
			t.Errorf("%s: not 429: %v", row.user, err)
		}
		if message := messageOf(err); (message == "") != (row.refusal == "") || !strings.HasPrefix(message, row.refusal) {
			t.Errorf("%s: got %q, want %q", row.user, message, row.refusal)
		}
	}
	if err := s.checkRoom(as("carol"), 3); !apierrors.IsTooManyRequests(err) {
		t.Errorf("room for three: %v", err)
	}

	for _, release := range releases {
		release()
	}
	if err := s.checkRoom(as("alice"), 2); err != nil {
		t.Errorf("after all have ended: %v", err)
	}
	if s.total != 0 || len(s.byUser) != 0 {
		t.Errorf("it remembers %d of %v", s.total, s.byUser)
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
