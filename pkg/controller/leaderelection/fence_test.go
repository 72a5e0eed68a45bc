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

const minute = time.Minute

// transport represents the network: it counts the requests that get through to it, and answers them.
type transport struct {
	requests int
	// answerAfter is how long an answer takes.
	answerAfter time.Duration
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	t.requests++
	if request.Body != nil {
		defer request.Body.Close()
	}
	select {
	case <-time.After(t.answerAfter):
		return &http.Response{StatusCode: http.StatusOK, Body: &readable{ctx: request.Context()}}, nil
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

// readable can be read until its request is cancelled, as an answer over a network.
type readable struct{ ctx context.Context }

func (r *readable) Read([]byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, r.ctx.Err()
	}
	return 0, io.EOF
}

func (r *readable) Close() error { return nil }

// send sends a request of that method through the fence and returns its error.
func send(t *testing.T, f *Fence, next http.RoundTripper, method string) error {
	t.Helper()
	body := &closable{Reader: strings.NewReader("{}")}
	request, err := http.NewRequestWithContext(t.Context(), method, "https://cluster/apis", body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := f.Wrap(next).RoundTrip(request)
	if !body.isClosed {
		t.Errorf("the body of the %s is left open", method)
	}
	if err != nil {
		return err
	}
	return response.Body.Close()
}

type closable struct {
	io.Reader
	isClosed bool
}

func (c *closable) Close() error {
	c.isClosed = true
	return nil
}

func TestWhatGetsThrough(t *testing.T) {
	writes := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	for _, row := range []struct {
		name   string
		happen func(f *Fence)
		open   bool
	}{
		{"before the Lease is acquired", func(*Fence) {}, false},
		{"while the Lease is held", func(f *Fence) { hold(f, minute); time.Sleep(minute - 1) }, true},
		{"when the Lease may have run out", func(f *Fence) { hold(f, minute); time.Sleep(minute) }, false},
		{"long afterwards", func(f *Fence) { hold(f, minute); time.Sleep(minute * 60) }, false},
		{"when it was renewed", func(f *Fence) { hold(f, minute); time.Sleep(minute / 2); hold(f, minute); time.Sleep(minute - 1) }, true},
		{"when the renewal may have run out", func(f *Fence) { hold(f, minute); time.Sleep(minute / 2); hold(f, minute); time.Sleep(minute) }, false},
		{"when it ran out and was acquired again", func(f *Fence) { hold(f, minute); time.Sleep(2 * minute); hold(f, minute) }, true},
		{"when it was renewed by a request that took as long as the Lease lasts", func(f *Fence) { hold(f, minute); hold(f, 0) }, false},
		{"when it was released", func(f *Fence) { hold(f, minute); f.close() }, false},
		{"when it was released and acquired again", func(f *Fence) { hold(f, minute); f.close(); hold(f, minute) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f Fence
				row.happen(&f)
				for _, method := range writes {
					var cluster transport
					err := send(t, &f, &cluster, method)
					if row.open && (err != nil || cluster.requests != 1) {
						t.Errorf("a %s does not get through: %v", method, err)
					}
					if !row.open && (!errors.Is(err, ErrNotLeading) || cluster.requests != 0) {
						t.Errorf("a %s gets through: %v", method, err)
					}
				}
				var cluster transport
				if err := send(t, &f, &cluster, http.MethodGet); err != nil || cluster.requests != 1 {
					t.Errorf("a read does not get through: %v", err)
				}
			})
		})
	}
}

// hold opens the fence for so long.
func hold(f *Fence, duration time.Duration) {
	f.openUntil(context.Background(), time.Now().Add(duration))
}

func TestAWriteOnItsWayIsGivenUpWithTheLead(t *testing.T) {
	for _, row := range []struct {
		name   string
		happen func(f *Fence)
		want   time.Duration
	}{
		{"when the Lease may have run out", func(*Fence) {}, minute},
		{"not before the renewed Lease may have run out", func(f *Fence) { time.Sleep(minute / 2); hold(f, minute) }, minute * 3 / 2},
		{"when the Lease is released", func(f *Fence) { time.Sleep(minute / 2); f.close() }, minute / 2},
		{"although the Lease was acquired again", func(f *Fence) { time.Sleep(minute / 2); f.close(); hold(f, minute) }, minute / 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f Fence
				hold(&f, minute)
				go row.happen(&f)
				begun := time.Now()
				err := send(t, &f, &transport{answerAfter: 60 * minute}, http.MethodPatch)
				if !errors.Is(err, ErrNotLeading) {
					t.Errorf("got %v, want %v", err, ErrNotLeading)
				}
				if took := time.Since(begun); took != row.want {
					t.Errorf("it was given up after %s, want %s", took, row.want)
				}
			})
		})
	}
}

func TestALeaseThatRanOutUnnoticedIsOver(t *testing.T) {
	var f Fence
	hold(&f, time.Hour)
	lead, _ := f.enter()
	f.until = time.Now() // and the timer has not fired yet, as after a freeze
	if err := send(t, &f, &transport{}, http.MethodPatch); !errors.Is(err, ErrNotLeading) {
		t.Errorf("a write begins: %v", err)
	}
	hold(&f, time.Hour)
	if lead.Err() == nil {
		t.Error("a write of a former term continues when the Lease is acquired again")
	}
}

func TestTheAnswerToAWriteCanBeReadAfterTheLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fence
		hold(&f, minute)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "https://cluster/apis", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := f.Wrap(&transport{}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * minute)
		if _, err := io.ReadAll(response.Body); err != nil {
			t.Errorf("reading it: %v", err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAWriteOfACallerThatGaveUpFailsAsItsOwn(t *testing.T) {
	var f Fence
	hold(&f, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, "https://cluster/apis", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Wrap(&transport{answerAfter: time.Hour}).RoundTrip(request); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNotLeading) {
		t.Errorf("got %v", err)
	}
}
