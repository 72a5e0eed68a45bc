// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// healthTimeout is how long the checks of one request for health may take, as for any other request.
const healthTimeout = time.Minute

// drainer closes every connection after the next answer on it while the server is not ready. A Service then routes new connections
// to other servers, but it does not close open connections, such as the ones that the aggregation layer keeps.
//
// A server that is shutting down continues to serve for --shutdown-delay-duration. When it stops, none of its connections is in
// use, and no request that is on its way stays without an answer.
type drainer struct {
	// shutdown is closed as soon as the server is shutting down.
	shutdown <-chan struct{}
	// unready is what the checks of readyz have said at last. kubelet, which probes the server, goes by the same.
	unready atomic.Bool
}

// wrap always closes the connection of a watch with the watch: watches end when the server stops, and the client would send its
// next request on a connection that is about to be closed.
//
// It leaves connections of HTTP/2 alone, which carry several requests at a time. The server would ignore the requests that the
// client sent before it learned that the connection closes. A proxy, such as the aggregation layer, cannot send them again.
func (d *drainer) wrap(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && (isWatch(r) || d.unready.Load() || isClosed(d.shutdown)) {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
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
		recorder := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		handler.ServeHTTP(recorder, r)
		d.unready.Store(recorder.status != http.StatusOK)
	})
}

func isWatch(r *http.Request) bool {
	watch, err := strconv.ParseBool(r.URL.Query().Get("watch"))
	return err == nil && watch
}
