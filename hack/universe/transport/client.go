// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Client is the transport of one client.
type Client struct {
	network *Network
	name    string
	waits   bool
	killed  atomic.Bool
}

// NewClient returns the transport of a client with the name. If waits is false, its requests are handled at once.
func (n *Network) NewClient(name string, waits bool) *Client {
	return &Client{network: n, name: name, waits: waits}
}

// Name returns the name of the client.
func (c *Client) Name() string { return c.name }

// Kill refuses all requests of the client, including waiting ones, as if its process had been killed.
func (c *Client) Kill() {
	c.killed.Store(true)
	for _, request := range c.network.Waiting() {
		if request.Client == c.name {
			c.network.Let(request, Refused)
		}
	}
}

// RoundTrip implements http.RoundTripper.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("reading the body of the request: %w", err)
		}
		_ = req.Body.Close()
	}
	outcome := Answered
	request := &Request{Client: c.name, Method: req.Method, URI: withoutTimeouts(req.URL), Body: body, outcome: make(chan Outcome, 1)}
	if c.waits && !c.killed.Load() && !isSentUnderLock(request) {
		c.network.add(request)
		select {
		case outcome = <-request.outcome:
		case <-req.Context().Done():
			c.network.remove(request)
			return nil, req.Context().Err()
		}
	}
	if outcome == Refused || c.killed.Load() {
		return nil, fmt.Errorf("connecting: %w", syscall.ECONNREFUSED)
	}
	response := c.serve(req, body)
	request.Code = response.StatusCode
	if outcome == Unanswered {
		_ = response.Body.Close()
		return nil, fmt.Errorf("reading the response: %w", io.ErrUnexpectedEOF)
	}
	return response, nil
}

// clientKey is the key of the name of the client in the context of its requests.
type clientKey struct{}

// ClientOf returns the name of the client that sent the request of the context, "" if it is not known.
func ClientOf(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}

// serve handles the request. It returns as soon as the header of the response is known.
func (c *Client) serve(req *http.Request, body []byte) *http.Response {
	ctx, cancel := context.WithCancel(context.WithValue(req.Context(), clientKey{}, c.name))
	inbound := req.Clone(ctx)
	inbound.Body, inbound.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	inbound.RequestURI, inbound.RemoteAddr, inbound.Host = req.URL.RequestURI(), "192.0.2.1:1", req.URL.Host
	if !strings.Contains(req.URL.RawQuery, "watch=true") {
		defer cancel()
		w := &buffer{header: http.Header{}}
		c.network.Handler.ServeHTTP(w, inbound)
		return newResponse(req, w.status(), w.header, io.NopCloser(&w.body))
	}
	query := inbound.URL.Query()
	query.Set("timeoutSeconds", strconv.Itoa(watchSeconds))
	inbound.URL.RawQuery = query.Encode()
	reader, writer := io.Pipe()
	w := &stream{header: http.Header{}, body: writer, started: make(chan struct{})}
	go func() {
		defer cancel()
		c.network.Handler.ServeHTTP(w, inbound)
		w.WriteHeader(http.StatusOK)
		_ = writer.Close()
	}()
	select {
	case <-w.started:
	case <-ctx.Done():
	}
	return newResponse(req, w.code, w.header.Clone(), &streamBody{reader, cancel})
}

// isSentUnderLock returns whether the request writes an event, or is about the Secret with the key of hashes. Such requests never wait:
// their senders hold a lock, and the clock of a bubble does not advance while a goroutine waits for a lock.
func isSentUnderLock(request *Request) bool {
	return request.IsWrite() && strings.Contains(request.URI, "/events") || strings.Contains(request.URI, "/secrets")
}

// withoutTimeouts returns the path and the query without the timeouts, which clients choose by chance.
func withoutTimeouts(address *url.URL) string {
	query := address.Query()
	query.Del("timeout")
	query.Del("timeoutSeconds")
	if len(query) == 0 {
		return address.Path
	}
	return address.Path + "?" + query.Encode()
}

// watchSeconds is the timeout of watches, a year. It replaces the timeout that clients choose by chance.
const watchSeconds = 365 * 24 * 60 * 60
