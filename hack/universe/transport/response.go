// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

func newResponse(req *http.Request, code int, header http.Header, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: -1, Request: req,
	}
}

// buffer is the response writer of requests other than watches.
type buffer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (b *buffer) Header() http.Header { return b.header }

func (b *buffer) WriteHeader(code int) {
	if b.code == 0 {
		b.code = code
	}
}

func (b *buffer) Write(data []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(data)
}

func (b *buffer) status() int { return cmp.Or(b.code, http.StatusOK) }

// stream is the response writer of watches.
type stream struct {
	header  http.Header
	body    *io.PipeWriter
	once    sync.Once
	code    int
	started chan struct{}
}

// Flush implements http.Flusher.
func (s *stream) Flush() { s.WriteHeader(http.StatusOK) }

// CloseNotify implements http.CloseNotifier, which the handlers of watches require. The context of the request ends when the client
// closes the connection.
func (s *stream) CloseNotify() <-chan bool { return nil }

// streamBody is the body of the response to a watch. Close ends the watch.
type streamBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *streamBody) Close() error {
	b.cancel()
	return errors.Join(b.CloseWithError(io.ErrClosedPipe))
}
