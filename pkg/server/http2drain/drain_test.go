// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
)

// maxStreams is how many streams the server allows in these tests.
const maxStreams = 40

// client is a client of HTTP/2 that opens a stream for each request, unless it has reached the limit.
type client struct {
	t *testing.T
	// isSilent is true if the client acknowledges no SETTINGS but the first.
	isSilent bool

	mu     sync.Mutex
	framer *http2.Framer
	// opened is how many streams it has opened, and answered how many of them have ended.
	opened, answered int
	limit            int
	// limits are the limits that it has received, in their order.
	limits []int
	// gone is closed at GOAWAY, and openThen is how many streams were open.
	gone     chan struct{}
	openThen int
}

func (c *client) open() int { return c.opened - c.answered }

// request opens a stream.
func (c *client) request() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open() >= c.limit || isDone(c.gone) {
		return // It sends the request on another connection.
	}
	c.opened++
	if err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*c.opened - 1), EndHeaders: true, EndStream: true}); err != nil {
		c.t.Error(err)
	}
}

// read reads frames until the connection ends.
func (c *client) read() {
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return
		}
		c.note(frame)
	}
}

func (c *client) note(frame http2.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if limit, ok := frame.Value(http2.SettingMaxConcurrentStreams); ok {
			c.limits = append(c.limits, int(limit))
			if c.isSilent {
				return
			}
			c.limit = int(limit)
		}
		if err := c.framer.WriteSettingsAck(); err != nil {
			c.t.Error(err)
		}
	case *http2.DataFrame:
		c.answered++
	case *http2.GoAwayFrame:
		c.openThen = c.open()
		close(c.gone)
	}
}

func TestDrainWaitsForItsMoment(t *testing.T) {
	for _, test := range []struct {
		name     string
		isSilent bool
		// period is the time between two requests, 0 for no requests.
		period time.Duration
		// limits are the different limits that the client receives.
		limits []int
		// open is how many streams are open at GOAWAY. No stream ends before, but the first one in the cases with several attempts.
		open int
	}{
		{name: "no requests", limits: []int{maxStreams}, open: 1},
		{name: "a request now and then", period: 190 * time.Millisecond, limits: []int{maxStreams, 6, maxStreams, 9}, open: 9},
		{name: "few requests", period: 60 * time.Millisecond, limits: []int{maxStreams, 11}, open: 11},
		{name: "many requests", period: 20 * time.Millisecond, limits: []int{maxStreams, 28}, open: 28},
		{name: "more requests than streams", period: 5 * time.Millisecond, limits: []int{maxStreams}, open: maxStreams},
		{name: "no acknowledgement", isSilent: true, period: 200 * time.Millisecond, limits: []int{maxStreams}, open: 19},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, peer := newPair(t)
				client := &client{t: t, isSilent: test.isSilent, framer: http2.NewFramer(peer, peer), limit: maxStreams, gone: make(chan struct{})}
				var seen bytes.Buffer
				go func() { _, _ = io.Copy(&seen, server) }()
				go client.read()
				write(t, peer, []byte(http2.ClientPreface))
				write(t, server, frame(func(f *http2.Framer) error { return f.WriteSettings() }))
				client.request()
				synctest.Wait()

				go func() {
					if err := server.drain(); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
				go func() { // the answer to the request
					_, _ = server.Write(frame(func(f *http2.Framer) error { return f.WriteData(1, true, nil) }))
				}()
				for test.period > 0 && !isDone(client.gone) {
					time.Sleep(test.period)
					client.request()
				}
				<-client.gone
				synctest.Wait()
				if diff := cmp.Diff(test.limits, slices.Compact(client.limits)); diff != "" {
					t.Errorf("limits (-want +got):\n%s", diff)
				}
				if client.openThen != test.open {
					t.Errorf("%d streams were open at GOAWAY, want %d", client.openThen, test.open)
				}
				if client.answered != 1 {
					t.Errorf("the client has %d answers, want the answer that was held back", client.answered)
				}
				if acks := countAcks(t, seen.Bytes()); acks != 1 {
					t.Errorf("the server of HTTP/2 sees %d acknowledgements, want the acknowledgement of its own SETTINGS", acks)
				}
			})
		})
	}
}

// countAcks returns how many frames after the preface acknowledge SETTINGS.
func countAcks(t *testing.T, received []byte) int {
	t.Helper()
	acks, framer := 0, http2.NewFramer(nil, bytes.NewReader(received[len(http2.ClientPreface):]))
	for {
		frame, err := framer.ReadFrame()
		if errors.Is(err, io.EOF) {
			return acks
		}
		if err != nil {
			t.Fatal(err)
		}
		if settings, ok := frame.(*http2.SettingsFrame); ok && settings.IsAck() {
			acks++
		}
	}
}

func write(t *testing.T, to io.Writer, b []byte) {
	t.Helper()
	if _, err := to.Write(b); err != nil {
		t.Fatal(err)
	}
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
