// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"bufio"
	"crypto/tls"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

const (
	// acknowledgePeriod is how long the client has to acknowledge a limit that is no lower than its present one.
	acknowledgePeriod = 50 * time.Millisecond
	// settlePeriod is how long clients that wait for answers have to open the streams of the requests that they are sending.
	settlePeriod = 50 * time.Millisecond
	// measurePeriod is how long the streams are counted that other clients open.
	measurePeriod = 200 * time.Millisecond
	// fillPeriod is how long the client has to reach a lower limit.
	fillPeriod = 400 * time.Millisecond
	// initialRoom is the number of streams that the first lower limit has room for at least. Each further attempt halves it.
	initialRoom = 4
	// maxAttempts is how often a drain tries to send GOAWAY at the right moment, and retryPeriod is the time between two attempts.
	maxAttempts = 8
	retryPeriod = 500 * time.Millisecond
)

// conn is a connection that the server of HTTP/2 writes frames to, and that other frames can be inserted into.
type conn struct {
	*tls.Conn
	opened time.Time
	// isDraining belongs to Connections.
	isDraining bool
	// maxStreams is how many streams the server lets the client have open.
	maxStreams int
	reader     frameReader
	streams    streams

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

func newConn(c *tls.Conn, maxStreams int) *conn {
	result := &conn{Conn: c, opened: time.Now(), maxStreams: maxStreams, gone: make(chan struct{})}
	result.reader = frameReader{reader: bufio.NewReader(c), left: len(http2.ClientPreface), received: result.streams.received}
	result.position.noteHeader = result.streams.sent
	result.progress = sync.NewCond(&result.mu)
	return result
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) { return c.reader.Read(p) }

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
	for attempt := 1; ; attempt++ {
		isDone, err := c.tryToDrain(attempt)
		if isDone || err != nil {
			return err
		}
		if isClosed := awaitClose(c.gone, retryPeriod); isClosed {
			return nil
		}
	}
}

// tryToDrain sends GOAWAY, unless the client may be about to open a stream, and there is another attempt. It returns whether it has sent
// it.
//
// The connection holds its answers back meanwhile: clients that wait for an answer send no request, and no stream ends, which would make
// room for another one.
func (c *conn) tryToDrain(attempt int) (bool, error) {
	c.setHolding(true)
	defer c.setHolding(false)
	isQuiet, err := c.quiesce(max(1, initialRoom>>(attempt-1)))
	if err != nil || !isQuiet && attempt < maxAttempts {
		return false, err
	}
	return true, c.insert(goAway(), nil)
}

// quiesce returns whether the client is about to open no stream: because it sends hardly any requests, or because it has reached the
// limit of its streams, and sends its requests on another connection.
//
// A lower limit makes a busy client reach it. It fails requests that have chosen the connection and for which it has no room. Therefore
// it has room for as many streams as the client opens in most of fillPeriod, and at least for minRoom. A client that does not answer
// at once may be about to open any number of streams.
func (c *conn) quiesce(minRoom int) (bool, error) {
	limit, isKnown, err := c.confirmLimit()
	if err != nil || !isKnown {
		return false, err
	}
	if isReached := awaitClose(limit.reached, settlePeriod); isReached {
		return true, nil
	}
	_, before := c.streams.count()
	if isReached := awaitClose(limit.reached, measurePeriod); isReached {
		return true, nil
	}
	if _, isKnown, err := c.confirmLimit(); err != nil || !isKnown {
		return false, err // It got no processor in the meantime.
	}
	open, after := c.streams.count()
	if after == before {
		return true, nil
	}
	const expected = int(fillPeriod / measurePeriod)
	room := max(minRoom, (after-before)*expected*3/4)
	limit = newStreamLimit(min(open+room, c.maxStreams))
	if err := c.limitStreams(limit); err != nil {
		return false, err
	}
	return awaitClose(limit.reached, fillPeriod), nil
}

// confirmLimit tells the client of the limit of the server, and returns whether it has acknowledged that at once.
func (c *conn) confirmLimit() (*streamLimit, bool, error) {
	limit := newStreamLimit(c.maxStreams)
	if err := c.limitStreams(limit); err != nil {
		return nil, false, err
	}
	return limit, awaitClose(limit.known, acknowledgePeriod), nil
}

// limitStreams tells the client of the limit.
func (c *conn) limitStreams(limit *streamLimit) error {
	return c.insert(maxConcurrentStreams(limit.streams), limit)
}

// insert writes a frame that the server of HTTP/2 does not know of, and that tells the client of the limit, unless that is nil. It does
// nothing if the connection is closed.
func (c *conn) insert(frame []byte, limit *streamLimit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed && !c.canInsert() {
		c.progress.Wait()
	}
	if c.closed {
		return nil
	}
	if limit != nil {
		c.streams.await(limit)
	}
	_, err := c.Conn.Write(frame)
	return err
}

func (c *conn) setHolding(holding bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = holding
	c.progress.Broadcast()
}

// awaitClose returns whether the channel is closed within the time.
func awaitClose(closed <-chan struct{}, timeout time.Duration) bool {
	select {
	case <-closed:
		return true
	case <-time.After(timeout):
		return false
	}
}
