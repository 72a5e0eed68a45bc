// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Link is a network connection between two servers that can be cut. Sent data is not lost: it arrives after the link is restored.
type Link struct {
	listener net.Listener
	target   *url.URL
	// gate is locked while the link is cut.
	gate sync.RWMutex
}

// NewLink returns a link to the host of a URL.
func NewLink(t *testing.T, target string) *Link {
	t.Helper()
	parsed, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{target: parsed}
	l.listener = serveConnections(t, l.lead)
	return l
}

// URL returns the URL of the target through the link.
func (l *Link) URL() string {
	over := *l.target
	over.Host = l.listener.Addr().String()
	return over.String()
}

// Cut cuts the link. It must not be cut already.
func (l *Link) Cut() { l.gate.Lock() }

// Mend restores the link, which must be cut.
func (l *Link) Mend() { l.gate.Unlock() }

// pass blocks while the link is cut.
func (l *Link) pass() {
	l.gate.RLock()
	defer l.gate.RUnlock()
}

func (l *Link) lead(client net.Conn) {
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

func (l *Link) copy(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		count, err := from.Read(buffer)
		l.pass()
		if _, failed := to.Write(buffer[:count]); failed != nil || err != nil {
			return
		}
	}
}
