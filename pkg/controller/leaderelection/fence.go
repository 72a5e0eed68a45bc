// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// ErrNotLeading is why a fence refuses a request, or gives it up.
var ErrNotLeading = errors.New("this process does not lead, or may not any more")

// Fence keeps a process that may have lost the lead without noticing from writing. One that was frozen and goes on
// with what it was about to do is behind it, however long it was frozen: the lead is valid for so long after the
// request that won or renewed it was sent, by this process's own clock. Others cannot have won it before.
//
// The zero Fence refuses all writes until Run is given it and leads.
type Fence struct {
	mu         sync.Mutex
	validUntil time.Time
}

// extend makes the lead valid until then.
func (f *Fence) extend(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.validUntil = until
}

// close refuses writes from now on.
func (f *Fence) close() { f.extend(time.Time{}) }

func (f *Fence) end() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.validUntil
}

// Wrap returns a transport whose writes fail with ErrNotLeading while the lead is not valid. One that is being sent
// when it ends is given up. It is a transport.WrapperFunc.
func (f *Fence) Wrap(transport http.RoundTripper) http.RoundTripper {
	return &fenced{fence: f, transport: transport}
}

type fenced struct {
	fence     *Fence
	transport http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *fenced) RoundTrip(request *http.Request) (*http.Response, error) {
	if isRead(request.Method) {
		return t.transport.RoundTrip(request)
	}
	end := t.fence.end()
	if !time.Now().Before(end) {
		if request.Body != nil {
			request.Body.Close()
		}
		return nil, ErrNotLeading
	}
	ctx, cancel := context.WithDeadlineCause(request.Context(), end, ErrNotLeading)
	response, err := t.transport.RoundTrip(request.WithContext(ctx))
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrNotLeading) {
			err = fmt.Errorf("%w: %w", ErrNotLeading, err)
		}
		cancel()
		return nil, err
	}
	response.Body = &cancelOnClose{ReadCloser: response.Body, cancel: cancel}
	return response, nil
}

// WrappedRoundTripper lets client-go look behind the fence, as it does to close idle connections.
func (t *fenced) WrappedRoundTripper() http.RoundTripper { return t.transport }

func isRead(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// cancelOnClose frees the deadline of a request when its answer has been read.
type cancelOnClose struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *cancelOnClose) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
