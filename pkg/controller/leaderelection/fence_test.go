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
	"testing/synctest"
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

// A transport closes the body of a request whatever becomes of it.
func TestARefusedWriteIsClosed(t *testing.T) {
	body := &closeRecorder{Reader: strings.NewReader("box")}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://cluster.local/", body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := new(Fence).Wrap(&recorder{}).RoundTrip(request); !errors.Is(err, ErrNotLeading) {
		t.Errorf("got error %v, want %v", err, ErrNotLeading)
	}
	if !body.isClosed {
		t.Error("its body is open")
	}
}

type closeRecorder struct {
	io.Reader
	isClosed bool
}

func (r *closeRecorder) Close() error {
	r.isClosed = true
	return nil
}

func TestAWriteThatOutlastsTheLeadIsGivenUp(t *testing.T) {
	stuck := transport(func(request *http.Request) (*http.Response, error) {
		<-request.Context().Done()
		return nil, request.Context().Err()
	})
	for _, row := range []struct {
		name string
		// patience is how long the caller waits, lead how long the lead is valid.
		patience, lead time.Duration
		isGivenUp      bool
	}{
		{"the lead ends first", time.Hour, time.Minute, true},
		{"the caller goes first", time.Minute, time.Hour, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fence := &Fence{}
				fence.extend(time.Now().Add(row.lead))
				ctx, cancel := context.WithTimeout(t.Context(), row.patience)
				defer cancel()
				request, err := http.NewRequestWithContext(ctx, http.MethodPatch, "https://cluster.local/", nil)
				if err != nil {
					t.Fatal(err)
				}
				_, err = fence.Wrap(stuck).RoundTrip(request)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
				}
				if got := errors.Is(err, ErrNotLeading); got != row.isGivenUp {
					t.Errorf("%v is of the fence: %v, want %v", err, got, row.isGivenUp)
				}
			})
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

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

func TestALeadIsValidFromWhenItWasAskedFor(t *testing.T) {
	for _, row := range []struct {
		name     string
		validity time.Duration
		seconds  int
		want     time.Duration
	}{
		{"the elector gives up before the Lease runs out", 10 * time.Second, 15, 10 * time.Second},
		{"the Lease lost a fraction of a second", 1800 * time.Millisecond, 1, time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fence := &Fence{}
				lock := &guardedLock{Interface: slowLock{identity: "one"}, fence: fence, validity: row.validity}
				want := time.Now().Add(row.want)
				renewal := record("one")
				renewal.LeaseDurationSeconds = row.seconds
				if err := lock.Update(t.Context(), renewal); err != nil {
					t.Fatal(err)
				}
				if got := fence.end(); !got.Equal(want) {
					t.Errorf("it ends at %s, want %s", got, want)
				}
			})
		})
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
