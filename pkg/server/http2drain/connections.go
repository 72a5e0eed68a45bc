// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"context"
	"crypto/tls"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"
)

// stopPeriod is the time between two GOAWAYs while the server shuts down.
const stopPeriod = 100 * time.Millisecond

// Connections are the connections of HTTP/2 to a server.
type Connections struct {
	options *http2.Server
	// goingAway sends the GOAWAY of golang.org/x/net/http2 to all connections when it shuts down. It serves nothing.
	goingAway http.Server

	install   sync.Once
	installed chan struct{}

	mu   sync.Mutex
	open map[*conn]struct{}
	// isStopping is whether the server has begun to shut down.
	isStopping bool
}

// For returns the connections of HTTP/2 to the server that info describes, which does not serve yet. It serves requests only after
// the handler that WithServer returns has been given to it.
func For(info *genericapiserver.SecureServingInfo) (*Connections, error) {
	c := &Connections{
		options:   newOptions(info),
		installed: make(chan struct{}),
		open:      map[*conn]struct{}{},
	}
	if err := http2.ConfigureServer(&c.goingAway, c.options); err != nil {
		return nil, err
	}
	info.Listener = newListener(info.Listener, c.installed)
	return c, nil
}

// newOptions returns the ones with which info serves HTTP/2.
func newOptions(info *genericapiserver.SecureServingInfo) *http2.Server {
	const buffer = 256 << 10
	options := &http2.Server{
		IdleTimeout:              90 * time.Second,
		MaxUploadBufferPerStream: buffer,
		MaxReadFrameSize:         buffer,
		MaxConcurrentStreams:     100,
	}
	if info.HTTP2MaxStreamsPerConnection > 0 {
		options.MaxConcurrentStreams = uint32(info.HTTP2MaxStreamsPerConnection)
	}
	options.MaxUploadBufferPerConnection = buffer * int32(options.MaxConcurrentStreams)
	return options
}

// WithServer learns from the first request, which the listener sends, which http.Server serves it. It must be the outermost
// handler. All connections of HTTP/2 to that server then belong to c.
func (c *Connections) WithServer(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isIntroduction(r) {
			handler.ServeHTTP(w, r)
			return
		}
		c.install.Do(func() {
			server := r.Context().Value(http.ServerContextKey).(*http.Server)
			server.RegisterOnShutdown(c.stop)
			server.TLSNextProto[http2.NextProtoTLS] = c.serve
			close(c.installed)
		})
	})
}

// serve is what the http.Server does with a connection of HTTP/2.
func (c *Connections) serve(server *http.Server, tlsConn *tls.Conn, handler http.Handler) {
	conn := newConn(tlsConn, int(c.options.MaxConcurrentStreams))
	if isStopping := c.add(conn); isStopping {
		go c.stop()
	}
	defer c.remove(conn)
	ctx := context.Background()
	// net/http hands the context of the connection over in this way.
	if h, ok := handler.(interface{ BaseContext() context.Context }); ok {
		ctx = h.BaseContext()
	}
	c.options.ServeConn(conn, &http2.ServeConnOpts{Context: ctx, BaseConfig: server, Handler: handler})
}

// Drain lets the clients of all connections that have been open for the given time send their next requests on other connections.
// It does not wait for that. Open requests, such as watches, continue.
func (c *Connections) Drain(ctx context.Context, age time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if conn.isDraining || time.Since(conn.opened) < age {
			continue
		}
		conn.isDraining = true
		go func() {
			if err := conn.drain(); err != nil {
				klog.FromContext(ctx).V(1).Info("Draining a connection failed", "remoteAddress", conn.RemoteAddr(), "err", err)
			}
		}()
	}
}

// stop sends the GOAWAY of golang.org/x/net/http2 until no connection is open. One GOAWAY is not enough: it reaches only the
// connections that are served already, and a client may be in its TLS handshake while the server shuts down.
func (c *Connections) stop() {
	c.mu.Lock()
	c.isStopping = true
	c.mu.Unlock()
	for ; c.count() > 0; time.Sleep(stopPeriod) {
		_ = c.goingAway.Shutdown(context.Background())
	}
}

func (c *Connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// add adds a connection, and returns whether the server has begun to shut down.
func (c *Connections) add(conn *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = struct{}{}
	return c.isStopping
}

func (c *Connections) remove(conn *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}
