// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package http2drain

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"
)

const (
	clients         = 64
	requestPeriod   = 10 * time.Millisecond
	shutdownTimeout = 10 * time.Second
	eventTimeout    = time.Minute
)

// servers are what a Service leads connections to, and a client of it.
type servers struct {
	t       *testing.T
	address atomic.Pointer[string]
	client  *http.Client
}

// server is a generic API server without an API.
type server struct {
	connections *Connections
	address     string
	stop        func()
}

func newServers(t *testing.T) *servers {
	s := &servers{t: t}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, *s.address.Load())
		},
	}
	if _, err := http2.ConfigureTransports(transport); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	s.client = &http.Client{Transport: transport, Timeout: eventTimeout}
	return s
}

// start starts a server that new connections are led to.
func (s *servers) start(handler http.Handler) *server {
	s.t.Helper()
	info := newServingInfo(s.t)
	connections, err := For(info)
	if err != nil {
		s.t.Fatal(err)
	}
	started := &server{connections: connections, address: info.Listener.Addr().String(), stop: serve(s.t, info, connections.WithServer(handler))}
	s.address.Store(&started.address)
	return started
}

func newServingInfo(t *testing.T) *genericapiserver.SecureServingInfo {
	t.Helper()
	pair, err := servingCertificate()
	if err != nil {
		t.Fatal(err)
	}
	content, err := dynamiccertificates.NewStaticCertKeyContent("serving", pair[0], pair[1])
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &genericapiserver.SecureServingInfo{Listener: listener, Cert: content}
}

// serve serves until the test has ended or the function that it returns is called.
func serve(t *testing.T, info *genericapiserver.SecureServingInfo, handler http.Handler) func() {
	t.Helper()
	stop := make(chan struct{})
	stopped, stoppedListening, err := info.Serve(handler, shutdownTimeout, stop)
	if err != nil {
		t.Fatal(err)
	}
	result := sync.OnceFunc(func() {
		close(stop)
		<-stoppedListening
		<-stopped
	})
	t.Cleanup(result)
	return result
}

// connect returns the frames of a connection of HTTP/2, whose client has sent its preface.
func connect(t *testing.T, address string) *http2.Framer {
	t.Helper()
	return startHTTP2(t, dial(t, address))
}

// dial returns a connection that the server has accepted, before its TLS handshake.
func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// startHTTP2 is the client of a connection up to its preface.
func startHTTP2(t *testing.T, plain net.Conn) *http2.Framer {
	t.Helper()
	conn := tls.Client(plain, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http2.NextProtoTLS}})
	if err := conn.SetDeadline(time.Now().Add(eventTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return framer
}

// post sends a body that the client has no copy of, and expects it back.
func (s *servers) post(ctx context.Context, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://localhost/", io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.ProtoMajor != 2 || string(answer) != body {
		return fmt.Errorf("the answer, of %s, has %d bytes, want %d", response.Proto, len(answer), len(body))
	}
	return nil
}

// echo answers with the body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_, err = w.Write(body)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// A client of Go can still fail requests with a body, if it gets no processor for so long that the server does not learn how many it
// sends.
func TestRequestsSucceedWhenServersAreReplaced(t *testing.T) {
	const replacements, maxReplacements = 4, 40
	for _, test := range []struct {
		name  string
		drain func(*server)
		// least and most are how many requests may fail. There are thousands.
		least, most int
	}{
		{
			name: "drained",
			most: 2,
			drain: func(s *server) {
				eventually(t, "the old server has no connections", func() bool {
					s.connections.Drain(t.Context(), 0) // also connections that were in their handshake
					return s.connections.count() == 0
				})
			},
		},
		{name: "stopped without a drain", drain: func(*server) {}, least: clients / 2, most: clients},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServers(t)
			server := s.start(http.HandlerFunc(echo))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var sending sync.WaitGroup
			var sent atomic.Int64
			failures := make(chan error, clients)
			post := func(body string) {
				if err := s.post(context.WithoutCancel(ctx), body); err != nil {
					select {
					case failures <- err:
					default:
					}
				}
				sent.Add(1)
			}
			for client := range clients {
				body := strings.Repeat("b", 1+client*1000)
				sending.Go(func() {
					for ctx.Err() == nil {
						post(body)
					}
				})
			}
			sending.Go(func() { // clients that do not wait for the answers to others
				for ctx.Err() == nil {
					time.Sleep(requestPeriod)
					sending.Go(func() { post("request") })
				}
			})
			// On a busy machine, few requests are on their way at the moment of a stop.
			for replaced := 0; replaced < replacements || len(failures) < test.least && replaced < maxReplacements; replaced++ {
				before := sent.Load()
				eventually(t, "clients send requests", func() bool { return sent.Load() > before+2*clients })
				old := server
				server = s.start(http.HandlerFunc(echo))
				test.drain(old)
				old.stop()
			}
			stop()
			sending.Wait()
			close(failures)
			failed := 0
			for err := range failures {
				failed++
				if test.least == 0 {
					t.Log(err)
				}
			}
			// failures has room for one error of each client.
			if failed < test.least || failed > test.most {
				t.Errorf("%d or more of %d requests failed, want %d to %d", failed, sent.Load(), test.least, test.most)
			}
		})
	}
}

func TestOpenRequestContinuesOnDrainedConnection(t *testing.T) {
	s := newServers(t)
	next := make(chan string)
	server := s.start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			echo(w, r)
			return
		}
		for event := range next {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	go func() { next <- "1" }()
	watch, err := s.client.Get("https://localhost/?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	server.connections.Drain(t.Context(), 0)
	eventually(t, "a request is sent on another connection", func() bool {
		if err := s.post(t.Context(), "request"); err != nil {
			t.Fatal(err)
		}
		return server.connections.count() == 2
	})
	next <- "2"
	close(next)
	if events, err := io.ReadAll(watch.Body); err != nil || string(events) != "12" {
		t.Errorf("the watch has the events %q and the error %v, want 12", events, err)
	}
	eventually(t, "the drained connection is closed", func() bool { return server.connections.count() == 1 })
}

func TestConnectionsAreDrainedFromAnAgeOn(t *testing.T) {
	s := newServers(t)
	server := s.start(http.HandlerFunc(echo))
	if err := s.post(t.Context(), "request"); err != nil {
		t.Fatal(err)
	}
	old := server.connections.any()
	server.connections.Drain(t.Context(), time.Hour)
	if server.connections.isDraining(old) {
		t.Error("the young connection is drained")
	}
	server.connections.Drain(t.Context(), 0)
	eventually(t, "a request is sent on another connection", func() bool {
		if err := s.post(t.Context(), "request"); err != nil {
			t.Fatal(err)
		}
		return server.connections.count() == 2 || !server.connections.has(old)
	})
}

// A client that does not close drained connections gets the other GOAWAY when the server stops.
func TestServerStopsWithConnectionThatClientKeeps(t *testing.T) {
	s := newServers(t)
	server := s.start(http.HandlerFunc(echo))
	framer := connect(t, server.address)
	eventually(t, "the connection is open", func() bool { return server.connections.count() == 1 })
	server.connections.Drain(t.Context(), 0)
	server.connections.Drain(t.Context(), 0) // does nothing
	var named []uint32
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("the connection ends with %v", err)
			}
			break
		}
		if frame, ok := frame.(*http2.GoAwayFrame); ok {
			named = append(named, frame.LastStreamID)
			go server.stop()
		}
	}
	if len(named) != 2 || named[0] != 1<<31-1 || named[1] != 0 {
		t.Errorf("GOAWAY names the streams %d, want the highest possible one and then none", named)
	}
}

// A connection that is in its TLS handshake while the server shuts down gets a GOAWAY as well.
func TestServerStopsWithConnectionInHandshake(t *testing.T) {
	s := newServers(t)
	server := s.start(http.HandlerFunc(echo))
	conn := dial(t, server.address)
	if _, err := connect(t, server.address).ReadFrame(); err != nil { // the server accepts connections in their order
		t.Fatal(err)
	}
	go server.stop()
	eventually(t, "the server shuts down", func() bool {
		probe, err := net.Dial("tcp", server.address)
		if err == nil {
			_ = probe.Close()
		}
		return err != nil
	})
	framer := startHTTP2(t, conn)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("the connection ends without GOAWAY: %v", err)
		}
		if _, ok := frame.(*http2.GoAwayFrame); ok {
			return
		}
	}
}

func TestSettingsAreThoseOfGenericServer(t *testing.T) {
	for _, streams := range []int{0, 7} {
		t.Run(fmt.Sprintf("%d streams", streams), func(t *testing.T) {
			var settings [2]string
			for i := range settings {
				info := newServingInfo(t)
				info.HTTP2MaxStreamsPerConnection = streams
				handler := http.NotFoundHandler()
				if i == 1 {
					connections, err := For(info)
					if err != nil {
						t.Fatal(err)
					}
					handler = connections.WithServer(handler)
				}
				serve(t, info, handler)
				settings[i] = settingsOf(t, info.Listener.Addr().String())
			}
			if settings[0] != settings[1] {
				t.Errorf("the settings are\n%s\nwant the settings of the generic server\n%s", settings[1], settings[0])
			}
		})
	}
}

// settingsOf returns the settings and the window that a server begins a connection with.
func settingsOf(t *testing.T, address string) string {
	t.Helper()
	framer := connect(t, address)
	var settings []string
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			_ = frame.ForeachSetting(func(setting http2.Setting) error {
				settings = append(settings, setting.String())
				return nil
			})
		case *http2.WindowUpdateFrame:
			return strings.Join(append(settings, fmt.Sprint(frame.Increment)), "\n")
		}
	}
}

// servingCertificate is the certificate of all servers, and its key.
var servingCertificate = sync.OnceValues(func() (pair [2][]byte, err error) {
	pair[0], pair[1], err = cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	return pair, err
})

func (c *Connections) any() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		return conn
	}
	return nil
}

func (c *Connections) isDraining(conn *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return conn.isDraining
}

func (c *Connections) has(conn *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, has := c.open[conn]
	return has
}

func eventually(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(eventTimeout); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %s", what, eventTimeout)
		}
	}
}
