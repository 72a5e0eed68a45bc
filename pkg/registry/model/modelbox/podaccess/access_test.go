// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package podaccess

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const timeout = 30 * time.Second

// cluster is an API server that upgrades connections to pods, and sends back all data that it gets on them. Logs have one line, and
// do not end.
type cluster struct {
	config *rest.Config
	// allowed is the answer to every access review.
	allowed atomic.Bool
	open    atomic.Int32

	mu       sync.Mutex
	requests []*http.Request
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	server := httptest.NewTLSServer(c)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c.config = &rest.Config{Host: server.URL, BearerToken: "of-the-server", TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
	return c
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests = append(c.requests, r)
	c.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		review := &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: c.allowed.Load()}}
		review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
		_ = json.NewEncoder(w).Encode(review)
		return
	}
	if strings.Contains(r.URL.Path, "/pods/away/") {
		http.Error(w, "the kubelet is unavailable", http.StatusBadGateway)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/log") {
		c.open.Add(1)
		defer c.open.Add(-1)
		_, _ = io.WriteString(w, "a line\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	c.open.Add(1)
	defer c.open.Add(-1)
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
	_, _ = io.Copy(conn, buffered)
}

// responder answers with the code of an error.
type responder struct{ w http.ResponseWriter }

func (r responder) Object(int, runtime.Object) { panic("nothing answers with an object") }
func (r responder) Error(err error) {
	status := apierrors.APIStatus(nil)
	if known, ok := err.(apierrors.APIStatus); ok {
		status = known
	} else {
		status = apierrors.NewInternalError(err)
	}
	http.Error(r.w, status.Status().Message, int(status.Status().Code))
}

// server is a server that connects every user to a pod.
type server struct {
	url  *url.URL
	stop chan struct{}
}

func newServer(t *testing.T, c *cluster, maxStreams int, pod string) *server {
	t.Helper()
	s := &server{stop: make(chan struct{})}
	access, err := New(c.config, Limits{Streams: maxStreams, StreamsPerNamespace: maxStreams, StreamsPerUser: maxStreams}, s.stop)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := audit.WithAuditContext(r.Context())
		audit.WithAuditID(ctx, "the-audit-id")
		if err := access.AdmitStream(ctx, "default"); err != nil {
			responder{w}.Error(err)
			return
		}
		query := url.Values{"command": {"sh", "-c"}, "stdin": {"true"}}
		access.Connect(types.NamespacedName{Namespace: "default", Name: pod}, "exec", query, responder{w}).ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(front.Close)
	if s.url, err = url.Parse(front.URL); err != nil {
		t.Fatal(err)
	}
	return s
}

// stream is the connection of a user.
type stream struct {
	net.Conn
	reader *bufio.Reader
	answer *http.Response
}

// connect asks for an upgrade, as a user whose header has more in it than the cluster should see.
func (s *server) connect(t *testing.T) *stream {
	t.Helper()
	conn, err := net.Dial("tcp", s.url.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url.String()+"/?evil=yes", nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"Connection":             "Upgrade",
		"Upgrade":                "websocket",
		"Sec-Websocket-Key":      "key",
		"Sec-Websocket-Version":  "13",
		"Sec-Websocket-Protocol": "v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0, v4.channel.k8s.io",
		"Authorization":          "Bearer of-the-user",
		"Impersonate-User":       "another-user",
		"Impersonate-Group":      "system:masters",
		"X-Remote-User":          "another-user",
		"Cookie":                 "a=b",
		"Audit-Id":               "made-up",
	} {
		request.Header.Set(key, value)
	}
	if err := request.Write(conn); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, request)
	if err != nil {
		t.Fatal(err)
	}
	return &stream{conn, reader, answer}
}

// expectEcho sends bytes, and reads the same.
func (s *stream) expectEcho(t *testing.T, size int) {
	sent := make([]byte, size)
	_, _ = rand.Read(sent)
	go func() { _, _ = s.Write(sent) }()
	got := make([]byte, size)
	if _, err := io.ReadFull(s.reader, got); err != nil {
		t.Errorf("reading what comes back: %v", err)
	} else if !slices.Equal(sent, got) {
		t.Error("what comes back is not what was sent")
	}
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for deadline := time.Now().Add(timeout); !check(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", timeout, what)
		}
	}
}

func TestConnectAsksForThePodAsTheServer(t *testing.T) {
	c := newCluster(t)
	stream := newServer(t, c, 1, "web-1").connect(t)
	if stream.answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %s", stream.answer.Status)
	}
	stream.expectEcho(t, 1<<20)
	request := c.requests[0]
	if got, want := request.URL.String(), "/api/v1/namespaces/default/pods/web-1/exec?command=sh&command=-c&stdin=true"; got != want {
		t.Errorf("it asks for %s, want %s", got, want)
	}
	header := request.Header.Clone()
	for _, key := range []string{"User-Agent", "X-Forwarded-For"} {
		if header.Get(key) == "" {
			t.Errorf("there is no %s", key)
		}
		header.Del(key)
	}
	want := http.Header{
		"Connection":             {"Upgrade"},
		"Upgrade":                {"websocket"},
		"Sec-Websocket-Key":      {"key"},
		"Sec-Websocket-Version":  {"13"},
		"Sec-Websocket-Protocol": {"v5.channel.k8s.io, v4.channel.k8s.io"},
		"Authorization":          {"Bearer of-the-server"},
		"Audit-Id":               {"the-audit-id"},
	}
	if diff := cmp.Diff(want, header); diff != "" {
		t.Errorf("the header of the request for the pod (-want +got):\n%s", diff)
	}
}

func TestConnectPassesOnARefusal(t *testing.T) {
	stream := newServer(t, newCluster(t), 1, "away").connect(t)
	if body, _ := io.ReadAll(stream.answer.Body); stream.answer.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "the kubelet is unavailable") {
		t.Errorf("the answer is %s: %s", stream.answer.Status, body)
	}
}

func TestConnectRefusesWhatIsNoUpgrade(t *testing.T) {
	answer, err := http.Get(newServer(t, newCluster(t), 1, "web-1").url.String())
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("the answer is %s", answer.Status)
	}
}

func TestConnectEndsWithEitherSide(t *testing.T) {
	const streams = 50
	for _, test := range []struct {
		name string
		end  func(server *server, streams []*stream)
	}{
		{"the users close their connections", func(_ *server, streams []*stream) {
			for _, stream := range streams {
				stream.Close()
			}
		}},
		{"the users are killed, and their connections reset", func(_ *server, streams []*stream) {
			for _, stream := range streams {
				_ = stream.Conn.(*net.TCPConn).SetLinger(0)
				stream.Close()
			}
		}},
		{"the server stops", func(server *server, _ []*stream) { close(server.stop) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			server := newServer(t, c, streams, "web-1")
			all := make([]*stream, streams)
			for i := range all {
				all[i] = server.connect(t)
			}
			var echoes sync.WaitGroup
			for _, stream := range all {
				echoes.Go(func() { stream.expectEcho(t, 1<<18) })
			}
			echoes.Wait()

			refused := server.connect(t)
			if body, _ := io.ReadAll(refused.answer.Body); refused.answer.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(body), "--max-pod-streams") {
				t.Errorf("one more is answered %s: %s", refused.answer.Status, body)
			}

			test.end(server, all)
			eventually(t, "the connections to the cluster end", func() bool { return c.open.Load() == 0 })
			for _, stream := range all {
				_ = stream.SetReadDeadline(time.Now().Add(timeout))
				if _, err := stream.reader.ReadByte(); err == nil {
					t.Fatal("a connection of a user stays open")
				}
			}
		})
	}
}

func TestStreamsAreCountedWhileTheyLast(t *testing.T) {
	server := newServer(t, newCluster(t), 1, "web-1")
	server.connect(t).Close()
	eventually(t, "there is room for another one", func() bool {
		next := server.connect(t)
		defer next.Close()
		return next.answer.StatusCode == http.StatusSwitchingProtocols
	})
}

func TestCheckAllowed(t *testing.T) {
	c := newCluster(t)
	access, err := New(c.config, oneStream, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = access.CheckAllowed(t.Context(), "default", "create", "exec")
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), component) || !apierrors.HasStatusCause(err, modelv1.PodAccessMissingCause) {
		t.Errorf("without the right: %v", err)
	}
	c.allowed.Store(true)
	if err := access.CheckAllowed(t.Context(), "default", "create", "exec"); err != nil {
		t.Errorf("with the right: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := access.CheckAllowed(ctx, "default", "create", "exec"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("when the cluster does not answer: %v", err)
	}
}
