// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// link is a network connection between two servers that can be cut. Sent data is not lost: it arrives after the link is restored.
type link struct {
	listener net.Listener
	target   *url.URL
	// gate is locked while the link is cut.
	gate sync.RWMutex
}

// newLink returns a link to the host of a URL.
func newLink(t *testing.T, target string) *link {
	t.Helper()
	parsed, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l := &link{target: parsed}
	l.listener = serveConnections(t, l.lead)
	return l
}

// url returns the URL of the target through the link.
func (l *link) url() string {
	over := *l.target
	over.Host = l.listener.Addr().String()
	return over.String()
}

func (l *link) cut()  { l.gate.Lock() }
func (l *link) mend() { l.gate.Unlock() }

// pass blocks while the link is cut.
func (l *link) pass() {
	l.gate.RLock()
	defer l.gate.RUnlock()
}

func (l *link) lead(client net.Conn) {
	defer client.Close()
	l.pass()
	server, err := net.Dial("tcp", l.target.Host)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		l.copy(server, client)
		server.Close()
	}()
	l.copy(client, server)
}

func (l *link) copy(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		count, err := from.Read(buffer)
		l.pass()
		if _, failed := to.Write(buffer[:count]); failed != nil || err != nil {
			return
		}
	}
}
