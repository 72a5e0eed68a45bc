// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// recorder answers every request, and remembers the last.
type recorder struct{ last *http.Request }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.last = request
	return &http.Response{Body: io.NopCloser(strings.NewReader("answer"))}, nil
}

func send(t *testing.T, fence *Fence, method string) (*http.Request, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "https://cluster.local/", nil)
	if err != nil {
		t.Fatal(err)
	}
	server := &recorder{}
	response, err := fence.Wrap(server).RoundTrip(request)
	if err == nil {
		if answer, err := io.ReadAll(response.Body); err != nil || string(answer) != "answer" {
			t.Errorf("the answer is %q, error %v", answer, err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	return server.last, err
}

func TestFence(t *testing.T) {
	past, future := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	for _, row := range []struct {
		name  string
		fence func(*Fence)
		// isOpen is whether writes pass. Reads always do.
		isOpen bool
	}{
		{"before the first lead", func(*Fence) {}, false},
		{"while the lead is valid", func(f *Fence) { f.extend(future) }, true},
		{"when it has run out", func(f *Fence) { f.extend(past) }, false},
		{"when it was renewed", func(f *Fence) { f.extend(past); f.extend(future) }, true},
		{"when it was given up", func(f *Fence) { f.extend(future); f.close() }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			fence := &Fence{}
			row.fence(fence)
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				sent, err := send(t, fence, method)
				if row.isOpen && err != nil || !row.isOpen && !errors.Is(err, ErrNotLeading) {
					t.Errorf("%s: got error %v", method, err)
				}
				if (sent != nil) != row.isOpen {
					t.Errorf("%s was sent: %v, want %v", method, sent != nil, row.isOpen)
				}
			}
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
				if sent, err := send(t, fence, method); err != nil || sent == nil {
					t.Errorf("%s was not sent: %v", method, err)
				}
			}
		})
	}
}

func TestWritesEndWithTheLead(t *testing.T) {
	fence, end := &Fence{}, time.Now().Add(time.Hour)
	fence.extend(end)
	sent, err := send(t, fence, http.MethodPatch)
	if err != nil {
		t.Fatal(err)
	}
	if deadline, ok := sent.Context().Deadline(); !ok || !deadline.Equal(end) {
		t.Errorf("its deadline is %s, want %s", deadline, end)
	}
	if sent.Context().Err() == nil {
		t.Error("the deadline goes on when the answer has been read")
	}
}

func TestTheFenceIsOpenWhileLeading(t *testing.T) {
	c := newCluster()
	leads := make(chan struct{})
	// Work goes on after the end until it is told, as that of a frozen process.
	leave := make(chan struct{})
	run := start(t, c, configuration(), "one", func(ctx context.Context) {
		close(leads)
		<-ctx.Done()
		<-leave
	})
	<-leads
	if _, err := send(t, &run.fence, http.MethodPatch); err != nil {
		t.Errorf("while it leads: %v", err)
	}
	close(leave)
	run.stop(t)
	if _, err := send(t, &run.fence, http.MethodPatch); !errors.Is(err, ErrNotLeading) {
		t.Errorf("when it has stopped: got error %v, want %v", err, ErrNotLeading)
	}
}

func TestALeadThatIsNotRenewedRunsOut(t *testing.T) {
	fence := &Fence{}
	lock := &guardedLock{Interface: unreachableLock{identity: "one"}, fence: fence, validity: time.Hour}
	fence.extend(time.Now().Add(-time.Second))
	if err := lock.Update(t.Context(), record("one")); err == nil {
		t.Fatal("the renewal succeeded")
	}
	if _, err := send(t, fence, http.MethodPatch); !errors.Is(err, ErrNotLeading) {
		t.Errorf("after a renewal that failed: got error %v, want %v", err, ErrNotLeading)
	}
}
