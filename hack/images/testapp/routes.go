// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// routes returns the routes of the application.
func (a *application) routes() http.Handler {
	mux := http.NewServeMux()
	// What it is and what it was given.
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "version %s on %s\n", a.version, hostname())
	})
	mux.HandleFunc("GET /version", a.answerVersion)
	mux.HandleFunc("GET /metrics", a.metrics)
	mux.HandleFunc("GET /environment/{name}", environment)
	mux.HandleFunc("GET /files/{path...}", files)
	// Whom it reaches.
	mux.HandleFunc("GET /via/{connection}/{path...}", relay)
	mux.HandleFunc("GET /connect/{connection}", connect)
	// How it is.
	mux.HandleFunc("GET /ready", unless(&a.unready))
	mux.HandleFunc("GET /alive", unless(&a.dead))
	// What shall go wrong, and right again.
	for path, fault := range map[string]*atomic.Bool{"ready": &a.unready, "alive": &a.dead} {
		mux.HandleFunc("POST /"+path+"/off", func(http.ResponseWriter, *http.Request) { fault.Store(true) })
		mux.HandleFunc("POST /"+path+"/on", func(http.ResponseWriter, *http.Request) { fault.Store(false) })
	}
	mux.HandleFunc("POST /listen/off", func(http.ResponseWriter, *http.Request) { a.listener.Close() })
	mux.HandleFunc("POST /crash/{code}", crash)
	mux.HandleFunc("POST /memory/{mebibytes}", a.takeMemory)
	mux.HandleFunc("POST /cpu/{seconds}", burnCPU)
	return mux
}

func environment(w http.ResponseWriter, r *http.Request) {
	value, found := os.LookupEnv(r.PathValue("name"))
	if !found {
		http.Error(w, "not set", http.StatusNotFound)
		return
	}
	fmt.Fprint(w, value)
}

func files(w http.ResponseWriter, r *http.Request) {
	content, err := os.ReadFile("/" + r.PathValue("path"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	_, _ = w.Write(content)
}

func unless(fault *atomic.Bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if fault.Load() {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "yes")
	}
}

func crash(w http.ResponseWriter, r *http.Request) {
	code, ok := number(w, r, "code")
	if !ok {
		return
	}
	fmt.Println("crashes, as requested")
	os.Exit(code)
}

func (a *application) takeMemory(w http.ResponseWriter, r *http.Request) {
	if mebibytes, ok := number(w, r, "mebibytes"); ok {
		a.memory.take(mebibytes)
	}
}

func burnCPU(w http.ResponseWriter, r *http.Request) {
	seconds, ok := number(w, r, "seconds")
	if !ok {
		return
	}
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
	}
}

func number(w http.ResponseWriter, r *http.Request, name string) (value int, ok bool) {
	value, err := strconv.Atoi(r.PathValue(name))
	if err != nil {
		http.Error(w, fmt.Sprintf("%s: %v", name, err), http.StatusBadRequest)
		return 0, false
	}
	return value, true
}
