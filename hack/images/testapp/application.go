// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// farewell is how long the application still answers after SIGTERM, and with each answer asks for the connection to
	// be closed. Were it to close them itself, what a client sends at that moment would be answered with a reset.
	farewell = time.Second
	// shutdownPatience is the timeout for requests in progress.
	shutdownPatience = 20 * time.Second
)

// application is the server and its state.
type application struct {
	version     string
	status      int
	port        int
	listenAfter time.Duration

	unready, dead, stopping atomic.Bool
	answers                 atomic.Int64
	listener                net.Listener
	memory                  memory
}

// serve runs the server until SIGTERM, and then until all requests in progress have a response.
func (a *application) serve() error {
	ctx, restoreSignals := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer restoreSignals()

	fmt.Printf("version %s starts, and listens in %s\n", a.version, a.listenAfter)
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(a.listenAfter):
	}
	var err error
	if a.listener, err = net.Listen("tcp", fmt.Sprintf(":%d", a.port)); err != nil {
		return err
	}
	fmt.Printf("listens on port %d\n", a.port)
	server := &http.Server{Handler: a.sayingFarewell(a.routes()), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(a.listener) }()

	select {
	case err = <-failed:
		if !errors.Is(err, net.ErrClosed) {
			return err
		}
		<-ctx.Done() // It was asked to stop listening, and keeps running.
	case <-ctx.Done():
	}
	fmt.Println("stops")
	a.stopping.Store(true)
	time.Sleep(farewell)
	ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
	defer cancel()
	return server.Shutdown(ctx)
}

func (a *application) sayingFarewell(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

// hostname is the name of the pod.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return err.Error()
	}
	return name
}
