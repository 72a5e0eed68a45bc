// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const boxesPath = "/apis/model.github.com/v1/namespaces/shop/modelboxes"

var files = fstest.MapFS{
	"index.html":      {Data: []byte("<!doctype html>the page")},
	"assets/index.js": {Data: []byte("the script")},
}

// apiServer answers each request with what arrives of it. A WebSocket gets a line back. As in an API server, it must have an
// Origin.
func apiServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Upgrade") != "" && r.Header.Get("Origin") == "":
			w.WriteHeader(http.StatusForbidden)
			return
		case r.Header.Get("Upgrade") != "":
			echo(t, w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "rolls 4 pods"`)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, "%s %s", r.Method, r.URL.RequestURI())
		for _, name := range []string{"Authorization", "Cookie", "Impersonate-User", "Impersonate-Group", "Accept"} {
			if value := r.Header.Get(name); value != "" {
				fmt.Fprintf(w, "; %s: %s", name, value)
			}
		}
		if len(body) > 0 {
			fmt.Fprintf(w, "; %s", body)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func echo(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	connection, buffer, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer connection.Close()
	_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	line, err := buffer.ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	_, _ = io.WriteString(connection, "got "+line)
}

// serve serves the dashboard of namespace shop.
func serve(t *testing.T, config *rest.Config) (*httptest.Server, *guard) {
	t.Helper()
	api, err := newAPI(config, "shop")
	if err != nil {
		t.Fatal(err)
	}
	usage, err := newUsage(config, "shop")
	if err != nil {
		t.Fatal(err)
	}
	g := &guard{token: "the-token", session: "the-session"}
	server := httptest.NewServer(g.protect(newHandler("shop", "https://cluster.example.com", api, newLogs(newFactory(config.Host)), usage, files)))
	t.Cleanup(server.Close)
	g.host = server.Listener.Addr().String()
	return server, g
}

// send sends a request without following a redirect.
func send(t *testing.T, request *http.Request) (response *http.Response, body string) {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(data)
}

func newRequest(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return request
}

func TestGuard(t *testing.T) {
	server, g := serve(t, &rest.Config{Host: apiServer(t).URL})
	for _, row := range []struct {
		name    string
		path    string
		cookie  string
		host    string
		headers map[string]string
		code    int
	}{
		{name: "the page with the cookie", path: "/", cookie: "the-session", code: http.StatusOK},
		{name: "the page without the cookie", path: "/", code: http.StatusUnauthorized},
		{name: "the page with another cookie", path: "/", cookie: "another", code: http.StatusUnauthorized},
		{name: "the page with the token as the cookie", path: "/", cookie: "the-token", code: http.StatusUnauthorized},
		{name: "the page with the token", path: "/?token=the-token", code: http.StatusSeeOther},
		{name: "the page with another token", path: "/?token=another", code: http.StatusUnauthorized},
		{name: "the page with an empty token", path: "/?token=", code: http.StatusUnauthorized},
		{name: "the token with another path", path: "/settings.json?token=the-token", code: http.StatusUnauthorized},
		{name: "the API with the token", path: boxesPath + "?token=the-token", code: http.StatusUnauthorized},
		{name: "the API without the cookie", path: boxesPath, code: http.StatusUnauthorized},
		{name: "the API with the cookie", path: boxesPath, cookie: "the-session", code: http.StatusOK},
		{name: "a script without the cookie", path: "/assets/index.js", code: http.StatusUnauthorized},
		{name: "a name that resolves to the address", path: "/", cookie: "the-session", host: "evil.example.com", code: http.StatusForbidden},
		{name: "that name with the port", path: "/?token=the-token", host: "evil.example.com:PORT", code: http.StatusForbidden},
		{name: "localhost", path: "/", cookie: "the-session", host: "localhost:PORT", code: http.StatusForbidden},
		{name: "the address with another port", path: "/", cookie: "the-session", host: "127.0.0.1:1", code: http.StatusForbidden},
		{name: "the API from the page", path: boxesPath, cookie: "the-session", headers: map[string]string{"Origin": "http://HOST"}, code: http.StatusOK},
		{name: "the API from another page", path: boxesPath, cookie: "the-session", headers: map[string]string{"Origin": "https://evil.example.com"}, code: http.StatusForbidden},
		{name: "the API from a page with TLS", path: boxesPath, cookie: "the-session", headers: map[string]string{"Origin": "https://HOST"}, code: http.StatusForbidden},
		{name: "the API from a page without an origin", path: boxesPath, cookie: "the-session", headers: map[string]string{"Origin": "null"}, code: http.StatusForbidden},
		{name: "the API from a page on another port", path: boxesPath, cookie: "the-session", headers: map[string]string{"Sec-Fetch-Site": "same-site"}, code: http.StatusForbidden},
		{
			name: "a script for another page", path: "/assets/index.js", cookie: "the-session",
			headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, code: http.StatusForbidden,
		},
		{
			name: "a link to the page with the token", path: "/?token=the-token",
			headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, code: http.StatusSeeOther,
		},
		{
			name: "a link to the API", path: boxesPath, cookie: "the-session",
			headers: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, code: http.StatusForbidden,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, port, err := net.SplitHostPort(g.host)
			if err != nil {
				t.Fatal(err)
			}
			request := newRequest(t, http.MethodGet, server.URL+row.path, "")
			request.Host = strings.ReplaceAll(row.host, "PORT", port)
			if row.cookie != "" {
				request.AddCookie(&http.Cookie{Name: "modelbox-dashboard-" + port, Value: row.cookie})
			}
			for name, value := range row.headers {
				request.Header.Set(name, strings.ReplaceAll(value, "HOST", g.host))
			}
			response, body := send(t, request)
			if response.StatusCode != row.code {
				t.Errorf("the answer is %d %q, not %d", response.StatusCode, body, row.code)
			}
			policy := "default-src 'self'; connect-src 'self' ws://" + g.host + "; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
			for name, want := range map[string]string{"Content-Security-Policy": policy, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
				if got := response.Header.Get(name); got != want {
					t.Errorf("%s is %q, not %q", name, got, want)
				}
			}
			if row.code == http.StatusUnauthorized && response.Header.Get("Set-Cookie") != "" {
				t.Errorf("a client that is refused gets the cookie %q", response.Header.Get("Set-Cookie"))
			}
		})
	}
}

func TestTokenIsExchangedForACookie(t *testing.T) {
	server, g := serve(t, &rest.Config{Host: apiServer(t).URL})
	response, _ := send(t, newRequest(t, http.MethodGet, server.URL+"/?token=the-token", ""))
	if got := response.Header.Get("Location"); got != "/" {
		t.Errorf("the token is redirected to %q", got)
	}
	_, port, err := net.SplitHostPort(g.host)
	if err != nil {
		t.Fatal(err)
	}
	want := "modelbox-dashboard-" + port + "=the-session; Path=/; HttpOnly; SameSite=Strict"
	if diff := cmp.Diff([]string{want}, response.Header.Values("Set-Cookie")); diff != "" {
		t.Errorf("the cookie (-want +got):\n%s", diff)
	}
}

func TestHandler(t *testing.T) {
	cluster := apiServer(t)
	for _, row := range []handlerTest{
		{name: "the page", path: "/", code: http.StatusOK, answer: "<!doctype html>the page"},
		{name: "a script", path: "/assets/index.js", code: http.StatusOK, answer: "the script"},
		{name: "a file that is not there", path: "/nope.js", code: http.StatusNotFound, answer: "404 page not found\n"},
		{name: "the settings", path: "/settings.json", code: http.StatusOK, answer: `{"namespace":"shop","server":"https://cluster.example.com"}` + "\n"},
		{name: "a list", path: boxesPath + "?limit=500", code: http.StatusOK, answer: "GET " + boxesPath + "?limit=500"},
		{
			name: "the token of the user", config: rest.Config{BearerToken: "secret"}, path: boxesPath, code: http.StatusOK,
			answer: "GET " + boxesPath + "; Authorization: Bearer secret",
		},
		{
			name: "the user that the user acts as", config: rest.Config{BearerToken: "secret", Impersonate: rest.ImpersonationConfig{UserName: "anna"}}, path: boxesPath,
			code: http.StatusOK, answer: "GET " + boxesPath + "; Authorization: Bearer secret; Impersonate-User: anna",
		},
		{
			name: "credentials of the request", config: rest.Config{BearerToken: "secret", Impersonate: rest.ImpersonationConfig{UserName: "anna"}}, path: boxesPath,
			headers: map[string]string{"Authorization": "Bearer other", "Impersonate-User": "bob", "Impersonate-Group": "system:masters", "Accept": "application/json"},
			code:    http.StatusOK, answer: "GET " + boxesPath + "; Authorization: Bearer secret; Impersonate-User: anna; Accept: application/json",
		},
		{name: "a server with a path", config: rest.Config{Host: cluster.URL + "/clusters/a"}, path: boxesPath, code: http.StatusOK, answer: "GET /clusters/a" + boxesPath},
		{
			name: "a patch", method: http.MethodPatch, path: boxesPath + "/web?dryRun=All", body: `{"spec":{"paused":true}}`, code: http.StatusOK,
			answer: "PATCH " + boxesPath + `/web?dryRun=All; {"spec":{"paused":true}}`,
		},
		{name: "a restart", method: http.MethodPost, path: boxesPath + "/web/restart", body: "{}", code: http.StatusOK, answer: "POST " + boxesPath + "/web/restart; {}"},
		{
			name: "an access review", method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: "{}", code: http.StatusOK,
			answer: "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews; {}",
		},
		{name: "pods", path: "/api/v1/namespaces/shop/pods?watch=true", code: http.StatusOK, answer: "GET /api/v1/namespaces/shop/pods?watch=true"},
		{name: "networks", path: "/apis/model.github.com/v1/namespaces/shop/networks", code: http.StatusOK, answer: "GET /apis/model.github.com/v1/namespaces/shop/networks"},
		refused("a box of another namespace", http.MethodGet, "/apis/model.github.com/v1/namespaces/other/modelboxes"),
		refused("all namespaces", http.MethodGet, "/apis/model.github.com/v1/modelboxes"),
		refused("Secrets", http.MethodGet, "/api/v1/namespaces/shop/secrets"),
		refused("deleting a box", http.MethodDelete, boxesPath+"/web"),
		refused("creating a box", http.MethodPost, boxesPath),
		refused("commands in pods", http.MethodPost, "/api/v1/namespaces/shop/pods/web-1/exec"),
		refused("the page of a pod", http.MethodGet, "/api/v1/namespaces/shop/pods/web-1/proxy/"),
		refused("a name with a slash", http.MethodPatch, boxesPath+"/..%2F..%2Fother"),
	} {
		t.Run(row.name, func(t *testing.T) {
			config := row.config
			if config.Host == "" {
				config.Host = cluster.URL
			}
			server, g := serve(t, &config)
			method := row.method
			if method == "" {
				method = http.MethodGet
			}
			request := newRequest(t, method, server.URL+row.path, row.body)
			request.AddCookie(&http.Cookie{Name: g.cookieName(), Value: g.session})
			request.Header.Set("Origin", "http://"+g.host)
			for name, value := range row.headers {
				request.Header.Set(name, value)
			}
			response, body := send(t, request)
			if strings.Contains(body, `"kind":"Status"`) {
				status := metav1.Status{}
				if err := json.Unmarshal([]byte(body), &status); err != nil {
					t.Fatal(err)
				}
				body = status.Message
			}
			if response.StatusCode != row.code {
				t.Errorf("the answer is %d, not %d", response.StatusCode, row.code)
			}
			if diff := cmp.Diff(row.answer, body); diff != "" {
				t.Errorf("the answer (-want +got):\n%s", diff)
			}
			isForwarded := strings.HasPrefix(row.path, "/api") && row.code == http.StatusOK
			if hasWarning := response.Header.Get("Warning") != ""; hasWarning != isForwarded {
				t.Errorf("the answer has the warning of the cluster: %t", hasWarning)
			}
		})
	}
}

// handlerTest is a row of TestHandler.
type handlerTest struct {
	name    string
	config  rest.Config
	method  string
	path    string
	headers map[string]string
	body    string
	code    int
	answer  string
}

func refused(name, method, path string) handlerTest {
	decoded := strings.ReplaceAll(path, "%2F", "/")
	return handlerTest{name: name, method: method, path: path, code: http.StatusForbidden, answer: "the dashboard does not send " + method + " " + decoded + " on"}
}

func TestWatchByAWebSocketIsForwarded(t *testing.T) {
	_, g := serve(t, &rest.Config{Host: apiServer(t).URL})
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", g.host)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "GET %s?watch=true HTTP/1.1\r\nHost: %s\r\nOrigin: http://%[2]s\r\nCookie: %s=%s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		boxesPath, g.host, g.cookieName(), g.session)
	reader := bufio.NewReader(connection)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %s", response.Status)
	}
	fmt.Fprintln(connection, "hello")
	line, err := reader.ReadString('\n')
	if err != nil || line != "got hello\n" {
		t.Errorf("the cluster answers %q, %v", line, err)
	}
}

func TestValidate(t *testing.T) {
	for _, row := range []struct {
		name    string
		options Options
		fails   string
	}{
		{"any port", Options{namespace: "shop"}, ""},
		{"a port", Options{namespace: "shop", Port: 8080}, ""},
		{"a port that cannot be", Options{namespace: "shop", Port: 65536}, "--port must be between 1 and 65535, inclusive, not 65536"},
		{"a negative port", Options{namespace: "shop", Port: -1}, "--port must be between 1 and 65535, inclusive, not -1"},
		{"a namespace that cannot be", Options{namespace: "{shop}"}, `"{shop}" is not the name of a namespace`},
	} {
		t.Run(row.name, func(t *testing.T) {
			message := ""
			if err := row.options.Validate(); err != nil {
				message = err.Error()
			}
			if !strings.HasPrefix(message, row.fails) || row.fails == "" && message != "" {
				t.Errorf("the error is %q, not %q", message, row.fails)
			}
		})
	}
}

func TestRunServesThePageUntilItIsInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	output, input := io.Pipe()
	o := &Options{IOStreams: genericiooptions.IOStreams{Out: input}, namespace: "shop", config: &rest.Config{Host: apiServer(t).URL}}
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	lines := bufio.NewReader(output)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	location, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/\?token=[A-Z2-7]{26}\n$`).MatchString(location) {
		t.Fatalf("the URL is %q", location)
	}
	response, _ := send(t, newRequest(t, http.MethodGet, strings.TrimSpace(location), ""))
	page := newRequest(t, http.MethodGet, location[:strings.Index(location, "?")], "")
	for _, cookie := range response.Cookies() {
		page.AddCookie(cookie)
	}
	if response, body := send(t, page); response.StatusCode != http.StatusOK || !strings.Contains(body, "assets/index.js") {
		t.Errorf("the page is %d %q", response.StatusCode, body)
	}
	interrupt()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the command does not end")
	}
}

// newFactory returns the factory of a command for the API server at the URL.
func newFactory(url string) cmdutil.Factory {
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer, flags.Namespace = &url, ptr.To("shop")
	return cmdutil.NewFactory(flags)
}

// logServer serves box web with lines of its log. The last line is written after the response has begun, and after more is closed.
func logServer(t *testing.T, more <-chan struct{}, end func(http.ResponseWriter)) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for path, list := range map[string]string{
		"/api":                      `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/api/v1":                   `{"kind": "APIResourceList", "groupVersion": "v1", "resources": []}`,
		"/api/v1/namespaces/shop":   `{"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}}`,
		"/apis":                     `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "model.github.com", "versions": [{"groupVersion": "model.github.com/v1", "version": "v1"}]}]}`,
		"/apis/model.github.com/v1": `{"kind": "APIResourceList", "groupVersion": "model.github.com/v1", "resources": [{"name": "modelboxes", "singularName": "modelbox", "namespaced": true, "kind": "ModelBox", "verbs": ["get"]}]}`,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, list)
		})
	}
	mux.HandleFunc("GET "+boxesPath+"/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != "web" {
			writeStatus(w, apierrors.NewNotFound(modelv1.Resource("modelboxes"), r.PathValue("name")).ErrStatus)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": {"name": "web", "namespace": "shop"}}`)
	})
	mux.HandleFunc("GET "+boxesPath+"/web/log", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "[pod/web-1/web] %s\n", r.URL.RawQuery)
		w.(http.Flusher).Flush()
		<-more
		end(w)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestLogs(t *testing.T) {
	for _, row := range []struct {
		name string
		path string
		end  func(http.ResponseWriter)
		code int
		// first is the beginning of the response, and rest all that follows.
		first, rest string
		isAborted   bool
	}{
		{
			name: "a box", path: "/logs/web", code: http.StatusOK,
			first: "[pod/web-1/web] follow=true&prefix=true&tailLines=500\n", rest: "[pod/web-1/web] last\n",
			end: func(w http.ResponseWriter) { fmt.Fprintln(w, "[pod/web-1/web] last") },
		},
		{
			name: "all containers", path: "/logs/web?allContainers=true", code: http.StatusOK,
			first: "[pod/web-1/web] allContainers=true&follow=true&prefix=true&tailLines=500\n",
			end:   func(http.ResponseWriter) {},
		},
		{
			name: "a connection that is lost", path: "/logs/web", code: http.StatusOK,
			first: "[pod/web-1/web] follow=true&prefix=true&tailLines=500\n", isAborted: true,
			end: func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		},
		{
			name: "no box", path: "/logs/other", code: http.StatusNotFound,
			first: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"modelboxes.model.github.com \"other\" not found","reason":"NotFound",` +
				`"details":{"name":"other","group":"model.github.com","kind":"modelboxes"},"code":404}` + "\n",
		},
		{
			name: "a name that is a flag", path: "/logs/--previous", code: http.StatusNotFound,
			first: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"modelboxes.model.github.com \"--previous\" not found","reason":"NotFound",` +
				`"details":{"name":"--previous","group":"model.github.com","kind":"modelboxes"},"code":404}` + "\n",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			more := make(chan struct{})
			server, g := serve(t, &rest.Config{Host: logServer(t, more, row.end).URL})
			request := newRequest(t, http.MethodGet, server.URL+row.path, "")
			request.AddCookie(&http.Cookie{Name: g.cookieName(), Value: g.session})
			response, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != row.code {
				t.Errorf("the code is %d, want %d", response.StatusCode, row.code)
			}
			body := bufio.NewReader(response.Body)
			first, err := body.ReadString('\n')
			if err != nil || first != row.first {
				t.Errorf("the first line is %q, %v, want %q", first, err, row.first)
			}
			close(more)
			rest, err := io.ReadAll(body)
			if string(rest) != row.rest || (err != nil) != row.isAborted {
				t.Errorf("the rest is %q, %v, want %q", rest, err, row.rest)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	const pod = `{"metadata": {"name": %q, "labels": {"modelbox": "web"}}, "status": {"phase": %q}, "spec": {"containers": [` +
		`{"name": "web", "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}}}, {"name": "agent"}]}}`
	const measured = `{"metadata": {"name": %q}, "timestamp": %q, "containers": [` +
		`{"name": "web", "usage": {"cpu": %q, "memory": "32Mi"}}, {"name": "agent", "usage": {"cpu": "5m", "memory": "16Mi"}}]}`
	pods := strings.Join([]string{fmt.Sprintf(pod, "web-1", "Running"), fmt.Sprintf(pod, "web-2", "Running"), fmt.Sprintf(pod, "web-3", "Running"), fmt.Sprintf(pod, "web-4", "Pending")}, ",")
	metrics := strings.Join([]string{fmt.Sprintf(measured, "web-1", "2026-01-01T12:00:05Z", "150m"), fmt.Sprintf(measured, "web-2", "2026-01-01T12:00:00Z", "250m")}, ",")
	for _, row := range []struct {
		name string
		path string
		// metrics are the items that the cluster serves.
		metrics string
		// refusal is the response of the cluster to a list of metrics, if it is not 0.
		refusal int
		code    int
		// body is the response, or the message of the Status.
		body string
	}{
		{
			name: "two of three pods are measured", path: "/usage/web", metrics: metrics, code: http.StatusOK,
			body: `{"time":"2026-01-01T12:00:05Z","pods":3,"measured":2,"cpu":{"used":410,"requested":400},"memory":{"used":100663296,"requested":134217728},"containers":[` +
				`{"name":"agent","pods":2,"cpu":{"used":"5m","recommended":"10m"},"memory":{"used":"16Mi","recommended":"32Mi"}},` +
				`{"name":"web","pods":2,"cpu":{"used":"250m","requested":"200m","recommended":"320m"},"memory":{"used":"32Mi","requested":"64Mi","recommended":"48Mi"}}]}` + "\n",
		},
		{
			name: "no pod is measured", path: "/usage/web", code: http.StatusOK,
			body: `{"pods":3,"measured":0,"cpu":{"used":0,"requested":0},"memory":{"used":0,"requested":0},"containers":[]}` + "\n",
		},
		{
			name: "the cluster does not serve metrics", path: "/usage/web", refusal: http.StatusNotFound, code: http.StatusInternalServerError,
			body: "metrics API not available: the cluster does not serve metrics.k8s.io",
		},
		{
			name: "the user may not read metrics", path: "/usage/web", refusal: http.StatusForbidden, code: http.StatusForbidden,
			body: "the server responds 403",
		},
		{
			name: "a name that is a selector", path: "/usage/web,a=b", code: http.StatusBadRequest,
			body: `"web,a=b" is not the name of a box`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			mux := http.NewServeMux()
			list := func(items string) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					if got := r.URL.Query().Get("labelSelector"); got != "modelbox=web" {
						t.Errorf("the label selector is %q", got)
					}
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"items": [%s]}`, items)
				}
			}
			mux.Handle("GET /api/v1/namespaces/shop/pods", list(pods))
			mux.HandleFunc("GET /apis/metrics.k8s.io/v1beta1/namespaces/shop/pods", func(w http.ResponseWriter, r *http.Request) {
				if row.refusal == 0 {
					list(row.metrics)(w, r)
					return
				}
				reasons := map[int]metav1.StatusReason{http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound}
				writeStatus(w, metav1.Status{
					Status: metav1.StatusFailure, Reason: reasons[row.refusal], Code: int32(row.refusal), Message: fmt.Sprintf("the server responds %d", row.refusal),
				})
			})
			cluster := httptest.NewServer(mux)
			t.Cleanup(cluster.Close)
			server, g := serve(t, &rest.Config{Host: cluster.URL})
			request := newRequest(t, http.MethodGet, server.URL+row.path, "")
			request.AddCookie(&http.Cookie{Name: g.cookieName(), Value: g.session})
			response, body := send(t, request)
			if response.StatusCode != row.code {
				t.Errorf("the code is %d, want %d", response.StatusCode, row.code)
			}
			if row.code != http.StatusOK {
				status := metav1.Status{}
				if err := json.Unmarshal([]byte(body), &status); err != nil || !strings.HasPrefix(status.Message, row.body) {
					t.Errorf("the message is %q, %v, want %q", status.Message, err, row.body)
				}
				return
			}
			if diff := cmp.Diff(row.body, body); diff != "" {
				t.Errorf("the response (-want +got):\n%s", diff)
			}
		})
	}
}
