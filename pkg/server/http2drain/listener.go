// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"
)

// introductionTimeout is how long the server may take to answer the introduction. Until then it serves nothing.
const introductionTimeout = 10 * time.Second

// listener accepts a connection of its own before all others, and sends a request on it, the introduction. The generic API server
// does not tell which http.Server it serves with, but handlers of requests know. No other connection is there yet that would use the
// server while the handler changes it.
type listener struct {
	net.Listener
	// installed is closed by the handler of the introduction.
	installed <-chan struct{}

	introduction sync.Once
	introduced   chan struct{}
}

func newListener(inner net.Listener, installed <-chan struct{}) net.Listener {
	return &listener{Listener: inner, installed: installed, introduced: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	var own net.Conn
	l.introduction.Do(func() {
		var client net.Conn
		client, own = net.Pipe()
		go func() {
			defer close(l.introduced)
			if err := introduce(client, l.installed); err != nil {
				klog.Background().Error(err, "Connections of HTTP/2 will not be drained")
			}
		}()
	})
	if own != nil {
		return own, nil
	}
	<-l.introduced
	return l.Listener.Accept()
}

// introduce sends the first request to the other end of conn. The handler of WithServer must have closed installed when it is
// answered.
func introduce(conn net.Conn, installed <-chan struct{}) error {
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(introductionTimeout)); err != nil {
		return err
	}
	client := tls.Client(conn, &tls.Config{
		ServerName:         genericapiserver.LoopbackClientServerNameOverride,
		InsecureSkipVerify: true, // the other end is in this process
	})
	request, err := http.NewRequest(http.MethodGet, "https://"+genericapiserver.LoopbackClientServerNameOverride, nil)
	if err != nil {
		return err
	}
	if err := request.Write(client); err != nil {
		return fmt.Errorf("sending a request to the server itself: %w", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(client), request)
	if err != nil {
		return fmt.Errorf("receiving an answer of the server itself: %w", err)
	}
	defer response.Body.Close()
	select {
	case <-installed:
		return nil
	default:
		panic("another handler than the one of WithServer is the outermost one")
	}
}

// isIntroduction tells whether r came through the pipe of a listener.
func isIntroduction(r *http.Request) bool {
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return address != nil && address.Network() == "pipe"
}
