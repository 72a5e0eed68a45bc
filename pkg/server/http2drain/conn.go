// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"crypto/tls"
	"sync"
	"time"
)

// holdDuration is how long a connection holds answers back before GOAWAY. It is longer than a client takes from choosing the
// connection to opening a stream, also if it gets no processor for a while, and short enough for its users.
const holdDuration = 300 * time.Millisecond

// conn is a connection that the server of HTTP/2 writes frames to, and that another frame can be inserted into.
type conn struct {
	*tls.Conn
	opened time.Time
	// isDraining belongs to Connections.
	isDraining bool

	// gone is closed with the connection.
	gone     chan struct{}
	closing  sync.Once
	mu       sync.Mutex
	progress *sync.Cond
	// position is the one after what is written, and begun whether that has a complete frame: the first one has to be SETTINGS.
	position framePosition
	begun    bool
	// holding makes Write wait at the end of the frame.
	holding bool
	closed  bool
}

func newConn(c *tls.Conn) *conn {
	result := &conn{Conn: c, opened: time.Now(), gone: make(chan struct{})}
	result.progress = sync.NewCond(&result.mu)
	return result
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := 0
	for written < len(p) {
		for c.holding && !c.closed && c.canInsert() {
			c.progress.Wait()
		}
		n, err := c.Conn.Write(p[written : written+c.pass(p[written:])])
		written += n
		if err != nil {
			return written, err
		}
		c.progress.Broadcast()
	}
	return written, nil
}

// canInsert tells whether a frame can be written that the server of HTTP/2 does not know of.
func (c *conn) canInsert() bool { return c.begun && c.position.isBetweenFrames() }

// pass moves the position past the bytes that may be written at once, and returns their number.
func (c *conn) pass(p []byte) int {
	passed := 0
	for passed < len(p) {
		passed += c.position.pass(p[passed:])
		c.begun = c.begun || c.position.isBetweenFrames()
		if c.holding {
			break
		}
	}
	return passed
}

// Close implements net.Conn.
func (c *conn) Close() error {
	err := c.Conn.Close() // ends a Write that has c.mu
	c.closing.Do(func() { close(c.gone) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.progress.Broadcast()
	return err
}

// drain stops the client from opening streams. It returns when the client knows, or when the connection is closed.
func (c *conn) drain() error {
	c.setHolding(true)
	defer c.setHolding(false)
	select {
	case <-time.After(holdDuration):
	case <-c.gone:
		return nil
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed && !c.canInsert() {
		c.progress.Wait()
	}
	if c.closed {
		return nil
	}
	_, err := c.Conn.Write(goAway())
	return err
}

func (c *conn) setHolding(holding bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = holding
	c.progress.Broadcast()
}
