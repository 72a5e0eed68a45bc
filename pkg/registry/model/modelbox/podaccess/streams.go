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

// Limits are the maximum numbers of streams to pods at a time. Each of them is at least 1.
type Limits struct {
	// Streams is the maximum of all users and namespaces together.
	Streams int
	// StreamsPerNamespace is the maximum to the pods of one namespace.
	StreamsPerNamespace int
	// StreamsPerUser is the maximum of one user.
	StreamsPerUser int
}

// streams counts the streams to pods.
type streams struct {
	limits Limits

	mu          sync.Mutex
	total       int
	byNamespace map[string]int
	byUser      map[string]int
}

func newStreams(limits Limits) *streams {
	return &streams{limits: limits, byNamespace: map[string]int{}, byUser: map[string]int{}}
}

// acquire counts one more stream of the user of a request to the pods of the namespace until release is called, or returns 429
// where a limit is reached. Only the first call of release counts.
func (s *streams) acquire(ctx context.Context, namespace string) (release func(), err error) {
	user := userOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(namespace, user, 1); err != nil {
		return nil, err
	}
	s.total++
	s.byNamespace[namespace]++
	s.byUser[user]++
	return sync.OnceFunc(func() { s.release(namespace, user) }), nil
}

func (s *streams) release(namespace, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.byNamespace[namespace]--; s.byNamespace[namespace] == 0 {
		delete(s.byNamespace, namespace)
	}
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// checkRoom returns 429 where a limit leaves no room for so many more streams of the user of a request to the pods of the namespace.
func (s *streams) checkRoom(ctx context.Context, namespace string, more int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.check(namespace, userOf(ctx), more)
}

func (s *streams) check(namespace, user string, more int) error {
	if more < 1 {
		return nil
	}
	if s.total+more > s.limits.Streams {
		return apierrors.NewTooManyRequests(fmt.Sprintf("this server has %d connections to pods, the limit of --max-pod-streams is %d: try again later",
			s.total, s.limits.Streams), retryAfterSeconds)
	}
	if own := s.byNamespace[namespace]; own+more > s.limits.StreamsPerNamespace {
		return apierrors.NewTooManyRequests(fmt.Sprintf("the namespace %q has %d connections to pods on this server, the limit of --max-pod-streams-per-namespace is %d: "+
			"try again later", namespace, own, s.limits.StreamsPerNamespace), retryAfterSeconds)
	}
	if own := s.byUser[user]; own+more > s.limits.StreamsPerUser {
		return apierrors.NewTooManyRequests(fmt.Sprintf("%s has %d connections to pods on this server, the limit of --max-pod-streams-per-user is %d: "+
			"close some of them, or try again later", user, own, s.limits.StreamsPerUser), retryAfterSeconds)
	}
	return nil
}

// userOf returns the name of the user of the request, empty if it has no user.
func userOf(ctx context.Context) string {
	if user, ok := request.UserFrom(ctx); ok {
		return user.GetName()
	}
	return ""
}
