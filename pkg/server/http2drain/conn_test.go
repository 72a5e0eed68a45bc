// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"bytes"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func TestInsertedFrameIsBetweenFrames(t *testing.T) {
	for _, test := range []struct {
		name string
		// payloads returns the payloads of frames that are written in pieces of a length.
		payloads []int
		piece    int
		// before is how many pieces are written before GOAWAY is inserted.
		before int
		// want is how many frames come before GOAWAY.
		want int
	}{
		{name: "between frames", payloads: []int{0, 10}, piece: frameHeaderLength, before: 1, want: 1},
		{name: "in a header", payloads: []int{10, 10}, piece: 5, before: 1, want: 1},
		{name: "in a payload", payloads: []int{0, 1000, 10}, piece: 100, before: 3, want: 2},
		{name: "in a large frame", payloads: []int{200_000, 1}, piece: 4096, before: 3, want: 1},
		{name: "before the first frame", payloads: []int{10, 10}, piece: 100, before: 0, want: 1},
		{name: "before several frames in one piece", payloads: []int{0, 10, 10}, piece: frameHeaderLength, before: 1, want: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, peer := newPair(t)
			var written bytes.Buffer
			framer := http2.NewFramer(&written, nil)
			for i, length := range test.payloads {
				if err := framer.WriteRawFrame(http2.FrameData, 0, uint32(i+1), make([]byte, length)); err != nil {
					t.Fatal(err)
				}
			}
			inserted := make(chan error, 1)
			go func() {
				for piece := 0; written.Len() > 0; piece++ {
					if piece == test.before {
						conn.setHolding(true)
						go func() {
							defer conn.setHolding(false)
							inserted <- conn.insert(goAway(), nil)
						}()
					}
					if _, err := conn.Write(written.Next(test.piece)); err != nil {
						t.Error(err)
						return
					}
				}
			}()

			reader := http2.NewFramer(nil, peer)
			reader.SetMaxReadFrameSize(1 << 20)
			for i := range len(test.payloads) + 1 {
				frame, err := reader.ReadFrame()
				if err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
				if isGoAway := frame.Header().Type == http2.FrameGoAway; isGoAway != (i == test.want) {
					t.Fatalf("frame %d is %v, want %d frames before GOAWAY", i, frame.Header(), test.want)
				}
			}
			if err := <-inserted; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCloseEndsDrain(t *testing.T) {
	conn, _ := newPair(t)
	ended := make(chan struct{}, 2)
	go func() {
		_ = conn.drain()
		ended <- struct{}{}
	}()
	awaitHolding(t, conn)
	go func() {
		_, _ = conn.Write(goAway())
		ended <- struct{}{}
	}()
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		select {
		case <-ended:
		case <-time.After(eventTimeout):
			t.Fatal("Write or the drain has not ended")
		}
	}
}

func awaitHolding(t *testing.T, c *conn) {
	t.Helper()
	for deadline := time.Now().Add(eventTimeout); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		holding := c.holding
		c.mu.Unlock()
		if holding {
			return
		}
		if time.Now().After(deadline) {
			t.Error("the connection does not hold answers back")
			return
		}
	}
}

// newPair returns the ends of a connection of TLS in memory, of which the server's is one of this package.
func newPair(t *testing.T) (*conn, net.Conn) {
	t.Helper()
	pair, err := servingCertificate()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair[0], pair[1])
	if err != nil {
		t.Fatal(err)
	}
	one, other := net.Pipe()
	t.Cleanup(func() { _, _ = one.Close(), other.Close() })
	client := tls.Client(other, &tls.Config{InsecureSkipVerify: true})
	if err := client.SetDeadline(time.Now().Add(eventTimeout)); err != nil {
		t.Fatal(err)
	}
	return newConn(tls.Server(one, &tls.Config{Certificates: []tls.Certificate{certificate}}), maxStreams), client
}
