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

	"k8s.io/klog/v2"
)

// ErrNotLeading is why a write is refused, or was given up while it was on its way.
var ErrNotLeading = errors.New("the Lease may have run out: another process may be leading")

// Fence refuses the writes of a process that may no longer be leading and may not have noticed it, such as one that was frozen and
// wakes up in the middle of its work. It goes by the monotonic clock of this process alone.
//
// The zero value refuses every write until Run, which takes the fence, has acquired the Lease.
type Fence struct {
	mu sync.Mutex
	// until is when the Lease may run out unless it is renewed.
	until time.Time
	// lead is done when the Lease may have run out. It is nil while the fence is closed.
	lead   context.Context
	end    context.CancelFunc
	expiry *time.Timer
}

// Wrap returns a transport that sends reads at any time, and anything else only while the Lease is certain to be held:
// from when the last request that acquired or renewed it was begun, for the duration of the Lease. A write whose
// answer has not begun by then is given up. The error is ErrNotLeading in both cases.
//
// The clients of the election itself must not use it.
func (f *Fence) Wrap(next http.RoundTripper) http.RoundTripper {
	return &fencedTransport{fence: f, next: next}
}

// openUntil lets writes through until then.
func (f *Fence) openUntil(ctx context.Context, until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isOver() {
		f.closeLocked()
	}
	if f.lead == nil {
		f.lead, f.end = context.WithCancel(context.Background())
	} else {
		f.expiry.Stop()
	}
	f.until = until
	f.expiry = time.AfterFunc(time.Until(until), func() { f.expire(ctx) })
}

// expire closes the fence unless the Lease was renewed at the last moment.
func (f *Fence) expire(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isOver() {
		klog.FromContext(ctx).Info("The Lease was not renewed in time: writes are refused until it is held again")
		f.closeLocked()
	}
}

func (f *Fence) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closeLocked()
}

func (f *Fence) closeLocked() {
	if f.lead != nil {
		f.expiry.Stop()
		f.end()
		f.lead = nil
	}
}

// isOver tells whether the fence should be closed by now. The timer that closes it may be late.
func (f *Fence) isOver() bool {
	return f.lead != nil && !time.Now().Before(f.until)
}

// enter returns a context that is done when writes have to end, or false when they must not even begin.
func (f *Fence) enter() (context.Context, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lead == nil || f.isOver() {
		return nil, false
	}
	return f.lead, true
}

type fencedTransport struct {
	fence *Fence
	next  http.RoundTripper
}

func (t *fencedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return t.next.RoundTrip(request)
	}
	lead, ok := t.fence.enter()
	if !ok {
		if request.Body != nil {
			request.Body.Close()
		}
		return nil, ErrNotLeading
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	keepGoing := context.AfterFunc(lead, func() { cancel(ErrNotLeading) })
	response, err := t.next.RoundTrip(request.WithContext(ctx))
	// A request with an answer is written. The answer can be read even if another process leads now.
	keepGoing()
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrNotLeading) {
			err = fmt.Errorf("%w: %v", ErrNotLeading, err)
		}
		cancel(nil)
		return nil, err
	}
	response.Body = &answer{ReadCloser: response.Body, cancel: cancel}
	return response, nil
}

// answer frees what its request held when it has been read.
type answer struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (a *answer) Close() error {
	defer a.cancel(nil)
	return a.ReadCloser.Close()
}
