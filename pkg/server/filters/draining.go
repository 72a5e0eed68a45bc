// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/felixge/httpsnoop"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/http2drain"
)

const (
	// healthTimeout is how long the checks of one request for health may take, as for any other request.
	healthTimeout = time.Minute
	// drainPeriod is how often connections of HTTP/2 are looked for that are to be drained, and drainAge how long they have to have
	// been open, because a Service may lead clients back to the same server for a while.
	drainPeriod = 500 * time.Millisecond
	drainAge    = time.Second
	// drainingHook is the name of the hook that drains them.
	drainingHook = "modelbox-drain-http2-connections"
)

// drainer ends connections while the server is not ready. A Service then routes new connections to other servers, but it does not
// close open connections, such as the ones that the aggregation layer keeps. A connection of HTTP/1.1 closes after the next answer
// on it, and connections of HTTP/2 are drained.
//
// A server that is shutting down continues to serve for --shutdown-delay-duration. When it stops, none of its connections is in
// use, and no request that is on its way stays without an answer.
type drainer struct {
	// shutdown is closed as soon as the server is shutting down.
	shutdown <-chan struct{}
	// unready is what the checks of readyz have said at last. kubelet, which probes the server, goes by the same.
	unready atomic.Bool
	// connections are the connections of HTTP/2, nil if the server does not serve HTTP/2.
	connections *http2drain.Connections
}

// newDrainer returns a drainer, and adds the hook to the server that drains its connections of HTTP/2.
func newDrainer(config *genericapiserver.Config) (*drainer, error) {
	d := &drainer{shutdown: config.ShutdownInitiatedNotify()}
	if config.SecureServing == nil || config.SecureServing.DisableHTTP2 {
		return d, nil
	}
	var err error
	if d.connections, err = http2drain.For(config.SecureServing); err != nil {
		return nil, fmt.Errorf("preparing to drain connections of HTTP/2: %w", err)
	}
	delay := config.ShutdownDelayDuration
	return d, config.AddPostStartHook(drainingHook, func(hook genericapiserver.PostStartHookContext) error {
		go d.drainHTTP2(hook, delay)
		return nil
	})
}

// withServer tells the connections of HTTP/2 which http.Server serves them.
func (d *drainer) withServer(handler http.Handler) http.Handler {
	if d.connections == nil {
		return handler
	}
	return d.connections.WithServer(handler)
}

// wrap always closes the connection of a watch with the watch: watches end when the server stops, and the client would send its
// next request on a connection that is about to be closed.
//
// It leaves connections of HTTP/2 alone, which drainHTTP2 drains. The header would make the server ignore the requests that the
// client sent before it learned that the connection closes. A proxy, such as the aggregation layer, cannot send them again.
func (d *drainer) wrap(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && (isWatch(r) || d.unready.Load() || isClosed(d.shutdown)) {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// drainHTTP2 drains connections of HTTP/2 until ctx is done. A server that is shutting down, with the given delay, begins in the
// middle of the delay: the Service needs some time to route new connections to other servers.
func (d *drainer) drainHTTP2(ctx context.Context, delay time.Duration) {
	ticker := time.NewTicker(drainPeriod)
	defer ticker.Stop()
	var from time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			isShuttingDown := isClosed(d.shutdown)
			if isShuttingDown && from.IsZero() {
				from = now.Add(delay / 2)
			}
			if isShuttingDown && !now.Before(from) || !isShuttingDown && d.unready.Load() {
				d.connections.Drain(ctx, drainAge)
			}
		}
	}
}

// observe learns from handler, which the checks of readyz answer, whether the server is ready.
//
// Checks of health do not end with their request. A client could otherwise let a check fail by closing its connection, or by asking
// for a short timeout, and a check that keeps its result for a while would tell others that the server is not ready.
func (d *drainer) observe(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isHealth(r.URL.Path) {
			handler.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), healthTimeout)
		defer cancel()
		r = r.WithContext(ctx)
		if r.URL.Path != "/readyz" || r.URL.Query().Has("exclude") {
			handler.ServeHTTP(w, r)
			return
		}
		response := httpsnoop.CaptureMetrics(handler, w, r)
		d.unready.Store(response.Code != http.StatusOK)
	})
}

func isWatch(r *http.Request) bool {
	watch, err := strconv.ParseBool(r.URL.Query().Get("watch"))
	return err == nil && watch
}
