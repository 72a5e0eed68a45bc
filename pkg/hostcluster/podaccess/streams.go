// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// retryAfterSeconds is when a user who was refused may try again.
const retryAfterSeconds = 10

// Limits say how many connections to pods there may be at a time.
type Limits struct {
	// Streams is how many of all users together, and StreamsPerUser how many of one. Both are at least 1.
	Streams, StreamsPerUser int
}

// streams counts the connections to pods.
type streams struct {
	limits Limits

	mu     sync.Mutex
	total  int
	byUser map[string]int
}

func newStreams(limits Limits) *streams { return &streams{limits: limits, byUser: map[string]int{}} }

// acquire counts one more connection of the user of a request until release is called, once, or returns 429 where there are as
// many as there may be.
func (s *streams) acquire(ctx context.Context) (release func(), err error) {
	user := userOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(user, 1); err != nil {
		return nil, err
	}
	s.total++
	s.byUser[user]++
	return func() { s.release(user) }, nil
}

func (s *streams) release(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// checkRoom returns 429 where there would be too many connections with so many more of the user of a request.
func (s *streams) checkRoom(ctx context.Context, connections int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.check(userOf(ctx), connections)
}

func (s *streams) check(user string, more int) error {
	if s.total+more > s.limits.Streams {
		return apierrors.NewTooManyRequests(fmt.Sprintf("this server has %d connections to pods, and %d are all that --max-pod-streams allows: try again later",
			s.total, s.limits.Streams), retryAfterSeconds)
	}
	if own := s.byUser[user]; own+more > s.limits.StreamsPerUser {
		return apierrors.NewTooManyRequests(fmt.Sprintf("%s has %d connections to pods at this server, and %d are all that --max-pod-streams-per-user allows: "+
			"end some of them, or try again later", user, own, s.limits.StreamsPerUser), retryAfterSeconds)
	}
	return nil
}

// userOf returns whose request it is, empty for nobody's.
func userOf(ctx context.Context) string {
	if user, ok := request.UserFrom(ctx); ok {
		return user.GetName()
	}
	return ""
}
