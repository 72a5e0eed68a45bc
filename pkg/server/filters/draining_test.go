// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/http2drain"
)

func TestConnectionsEndWhileServerIsNotReady(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for _, test := range []struct {
		name     string
		shutdown chan struct{}
		// readyz is the last answer of /readyz; 0 if no client has asked.
		readyz int
		query  string
		http2  bool
		path   string
		ends   bool
	}{
		{name: "no client has asked"},
		{name: "ready", readyz: http.StatusOK},
		{name: "not ready", readyz: http.StatusInternalServerError, ends: true},
		{name: "not ready but for some checks", readyz: http.StatusInternalServerError, query: "?exclude=etcd"},
		{name: "not ready, HTTP/2", readyz: http.StatusInternalServerError, http2: true},
		{name: "watch", path: "/apis?watch=true", ends: true},
		{name: "watch, HTTP/2", path: "/apis?watch=true", http2: true},
		{name: "shutting down", shutdown: closed, ends: true},
		{name: "shutting down, HTTP/2", shutdown: closed, http2: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := &drainer{shutdown: test.shutdown}
			server := httptest.NewUnstartedServer(d.wrap(d.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/readyz" {
					w.WriteHeader(test.readyz)
				}
			}))))
			server.EnableHTTP2 = test.http2
			server.StartTLS()
			t.Cleanup(server.Close)
			if test.readyz != 0 {
				answerTo(t, server, "/readyz"+test.query)
			}
			if response := answerTo(t, server, cmp.Or(test.path, "/apis")); response.Close != test.ends {
				t.Errorf("the connection, %s, ends: %t, want %t", response.Proto, response.Close, test.ends)
			}
		})
	}
}

func TestConnectionsGoOnOnceServerIsReadyAgain(t *testing.T) {
	status := http.StatusInternalServerError
	d := &drainer{}
	server := httptest.NewTLSServer(d.wrap(d.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(status)
		}
	}))))
	t.Cleanup(server.Close)
	for _, step := range []struct {
		status int
		ends   bool
	}{{http.StatusInternalServerError, true}, {http.StatusOK, false}} {
		status = step.status
		answerTo(t, server, "/readyz")
		if response := answerTo(t, server, "/apis"); response.Close != step.ends {
			t.Errorf("after /readyz said %d the connection ends: %t, want %t", step.status, response.Close, step.ends)
		}
	}
}

// Some checks ask another server in the context of the request, and keep the result for other requests.
func TestChecksOfHealthOutliveTheirRequest(t *testing.T) {
	for _, path := range []string{"/readyz", "/readyz/kms-providers", "/livez", "/healthz", "/readyz?exclude=etcd"} {
		t.Run(path, func(t *testing.T) {
			d := &drainer{}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			var err error
			d.observe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err = r.Context().Err(); err != nil {
					w.WriteHeader(http.StatusInternalServerError)
				}
				if _, isLimited := r.Context().Deadline(); !isLimited {
					t.Error("the check may take as long as it likes")
				}
			})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, path, nil))
			if err != nil || d.unready.Load() {
				t.Errorf("a client that is gone makes the check fail with %v, and connections end: %t", err, d.unready.Load())
			}
		})
	}
}

func TestConnectionsOfHTTP2AreDrained(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for _, test := range []struct {
		name     string
		shutdown chan struct{}
		unready  bool
		delay    time.Duration
		drained  bool
	}{
		{name: "ready"},
		{name: "not ready", unready: true, drained: true},
		{name: "shutting down", shutdown: closed, drained: true},
		{name: "first half of the shutdown delay", shutdown: closed, unready: true, delay: time.Hour},
		{name: "second half of the shutdown delay", shutdown: closed, unready: true, delay: 2 * drainAge, drained: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			connections, request := serveHTTP2(t)
			d := &drainer{shutdown: test.shutdown, connections: connections}
			d.unready.Store(test.unready)
			go d.drainHTTP2(t.Context(), test.delay)
			first := request()
			isDrained := false
			for deadline := time.Now().Add(5 * drainAge); !isDrained && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				isDrained = request() != first
			}
			if isDrained != test.drained {
				t.Errorf("the connection is drained: %t, want %t", isDrained, test.drained)
			}
		})
	}
}

// serveHTTP2 serves until the test has ended. The function sends a request and returns the address of the client's end of the
// connection.
func serveHTTP2(t *testing.T) (connections *http2drain.Connections, request func() string) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := dynamiccertificates.NewStaticCertKeyContent("serving", certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	info := &genericapiserver.SecureServingInfo{Listener: listener, Cert: content}
	if connections, err = http2drain.For(info); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	stopped, _, err := info.Serve(connections.WithServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.RemoteAddr)
	})), time.Minute, stop)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		close(stop)
		<-stopped
	})
	return connections, func() string {
		response, err := (&http.Client{Transport: transport}).Get("https://" + listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		address, err := io.ReadAll(response.Body)
		if err != nil || response.ProtoMajor != 2 {
			t.Fatalf("the answer is of %s, and reading it ends with %v", response.Proto, err)
		}
		return string(address)
	}
}

func answerTo(t *testing.T, server *httptest.Server, path string) *http.Response {
	t.Helper()
	response, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response
}
