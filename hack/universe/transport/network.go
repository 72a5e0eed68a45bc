// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package transport connects clients to API servers in the same process. Each request waits until its outcome is decided.
package transport

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Network holds the waiting requests of all clients.
type Network struct {
	// Handler handles the requests.
	Handler http.Handler

	mu      sync.Mutex
	waiting []*Request
	arrived chan struct{}
}

// NewNetwork returns a network whose requests the handler handles.
func NewNetwork(handler http.Handler) *Network {
	return &Network{Handler: handler, arrived: make(chan struct{}, 1)}
}

// Outcome is the outcome of a request.
type Outcome int

const (
	// Answered requests are handled, and the client gets the response.
	Answered Outcome = iota
	// Refused requests are not handled: the client cannot connect.
	Refused
	// Unanswered requests are handled, and the connection breaks before the client gets the response.
	Unanswered
)

// String returns the word for the outcome.
func (o Outcome) String() string {
	return [...]string{"answered", "refused", "unanswered"}[o]
}

// Request is a request that waits.
type Request struct {
	Client string
	Method string
	// URI is the path and the query.
	URI  string
	Body []byte
	// Code is the status of the response, 0 before.
	Code int

	outcome chan Outcome
}

// String returns the first line of the request.
func (r *Request) String() string { return r.Client + " " + r.Method + " " + r.URI }

// IsWatch returns whether the request is one for a watch.
func (r *Request) IsWatch() bool { return strings.Contains(r.URI, "watch=true") }

// IsWrite returns whether the request can change an object. A query of Prometheus is a POST, and cannot.
func (r *Request) IsWrite() bool {
	return r.Method != http.MethodGet && !strings.HasSuffix(r.URI, "/api/v1/query")
}

// Waiting returns the waiting requests. Their order does not depend on when they were sent.
func (n *Network) Waiting() []*Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.SortStableFunc(n.waiting, func(a, b *Request) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Method, b.Method), cmp.Compare(a.URI, b.URI), bytes.Compare(a.Body, b.Body))
	})
	return slices.Clone(n.waiting)
}

// Arrived receives after requests were sent.
func (n *Network) Arrived() <-chan struct{} { return n.arrived }

// Let decides the outcome of a waiting request.
func (n *Network) Let(request *Request, outcome Outcome) {
	if n.remove(request) {
		request.outcome <- outcome
	}
}

// remove returns whether the request waited.
func (n *Network) remove(request *Request) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.Index(n.waiting, request)
	if i < 0 {
		return false
	}
	n.waiting = slices.Delete(n.waiting, i, i+1)
	return true
}

func (n *Network) add(request *Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, request)
	select {
	case n.arrived <- struct{}{}:
	default:
	}
}

var _ http.RoundTripper = &Client{}

var (
	_ http.Flusher       = &stream{}
	_ http.CloseNotifier = &stream{} //nolint:staticcheck // See CloseNotify.
)

func (s *stream) Header() http.Header { return s.header }

func (s *stream) WriteHeader(code int) {
	s.once.Do(func() {
		s.code = code
		close(s.started)
	})
}

func (s *stream) Write(data []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return s.body.Write(data)
}
