// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"sync"
)

const (
	// maxConcurrentQueries is the number of queries for all boxes that wait for an answer at the same time.
	maxConcurrentQueries = 10
	// maxConcurrentQueriesOfNamespace is their number for the boxes of one namespace. Slow queries of a namespace do not delay the
	// checks of another one.
	maxConcurrentQueriesOfNamespace = maxConcurrentQueries / 2
)

// querySlots limits the number of queries that wait for an answer at the same time.
type querySlots struct {
	all chan struct{}

	mutex sync.Mutex
	// namespaces has the namespaces with queries.
	namespaces map[string]*namespaceSlots
}

// namespaceSlots are the slots of a namespace, and the number of queries that have or wait for one.
type namespaceSlots struct {
	slots   chan struct{}
	queries int
}

func newQuerySlots() *querySlots {
	return &querySlots{all: make(chan struct{}, maxConcurrentQueries), namespaces: map[string]*namespaceSlots{}}
}

// do calls query when there is a slot for the namespace, or returns the error of the context.
func (s *querySlots) do(ctx context.Context, namespace string, query func()) error {
	slots := s.enter(namespace)
	defer s.leave(namespace)
	for _, of := range []chan struct{}{slots, s.all} {
		select {
		case of <- struct{}{}:
			defer func() { <-of }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	query()
	return nil
}

// enter returns the slots of the namespace.
func (s *querySlots) enter(namespace string) chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	of, isKnown := s.namespaces[namespace]
	if !isKnown {
		of = &namespaceSlots{slots: make(chan struct{}, maxConcurrentQueriesOfNamespace)}
		s.namespaces[namespace] = of
	}
	of.queries++
	return of.slots
}

func (s *querySlots) leave(namespace string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	of := s.namespaces[namespace]
	if of.queries--; of.queries == 0 {
		delete(s.namespaces, namespace)
	}
}
