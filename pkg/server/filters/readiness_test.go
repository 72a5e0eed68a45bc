// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
)

func TestRequestsBeforeTheServerIsReady(t *testing.T) {
	const token = "only-this-process-knows"
	for _, row := range []struct {
		name, path, authorization, token string
		served                           bool
	}{
		{"without credentials", "/apis/model.github.com/v1/modelboxes", "", token, false},
		{"of a user", "/apis/model.github.com/v1/modelboxes", "Bearer users-own", token, false},
		{"of a user with a part of the token", "/apis/model.github.com/v1/modelboxes", "Bearer " + token[:8], token, false},
		{"of the server itself", "/apis/model.github.com/v1/modelboxes", "Bearer " + token, token, true},
		{"with the token by another scheme", "/apis/model.github.com/v1/modelboxes", "Basic " + token, token, false},
		{"with no token where the server has none", "/apis/model.github.com/v1/modelboxes", "Bearer ", "", false},
		{"for discovery", "/apis", "", token, false},
		{"for metrics", "/metrics", "", token, false},
		{"for liveness", "/livez", "", token, true},
		{"for one check of readiness", "/readyz/etcd", "", token, true},
		{"for health", "/healthz", "", token, true},
		{"for what is only named like health", "/healthzz", "", token, false},
		{"for what is only below health", "/apis/livez", "", token, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			ready := make(chan struct{})
			handler := withReadiness(teapot, Config{Store: healthz.PingHealthz}.refusal(ready, nil), row.token, apiserver.Codecs)
			request := httptest.NewRequest(http.MethodGet, row.path, nil)
			request.Header.Set("Authorization", row.authorization)
			got := httptest.NewRecorder()
			handler.ServeHTTP(got, request)
			if want := statusOf(row.served); got.Code != want {
				t.Errorf("before: got %d, want %d", got.Code, want)
			}
			close(ready)
			got = httptest.NewRecorder()
			handler.ServeHTTP(got, request)
			if got.Code != http.StatusTeapot {
				t.Errorf("once it is ready: got %d", got.Code)
			}
		})
	}
}

var teapot = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

func statusOf(served bool) int {
	if served {
		return http.StatusTeapot
	}
	return http.StatusServiceUnavailable
}

// Clients retry only if the response says when, and report only errors that they can decode.
func TestARefusalBeforeTheServerIsReadyIsAStatus(t *testing.T) {
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeYAML} {
		t.Run(mediaType, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodGet, "/apis/model.github.com/v1/modelboxes", nil)
			request.Header.Set("Accept", mediaType)
			response := httptest.NewRecorder()
			withReadiness(teapot, func(*http.Request) string { return stopping }, "token", apiserver.Codecs).ServeHTTP(response, request)

			if got := response.Header().Get("Retry-After"); got != "1" {
				t.Errorf("Retry-After: got %q", got)
			}
			if got := response.Header().Get("Content-Type"); got != mediaType {
				t.Errorf("Content-Type: got %q", got)
			}
			decoded, err := runtime.Decode(apiserver.Codecs.UniversalDeserializer(), response.Body.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			status, isStatus := decoded.(*metav1.Status)
			if !isStatus {
				t.Fatalf("got a %T", decoded)
			}
			refusal := apierrors.FromObject(status)
			seconds, delay := apierrors.SuggestsClientDelay(refusal)
			if !apierrors.IsServiceUnavailable(refusal) || !delay || seconds != 1 || !strings.Contains(status.Message, "shutting down") {
				t.Errorf("got %+v", status)
			}
		})
	}
}

// A server refuses requests until all checks of readyz have passed at the same time. It serves them from then on. A check that
// fails later is for clients of readyz only.
func TestAServerServesFromWhenItIsReadyOn(t *testing.T) {
	var isWell atomic.Bool
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.SkipOpenAPIInstallation = true
	config.AddReadyzChecks(healthz.NamedCheck("late", func(*http.Request) error {
		if !isWell.Load() {
			return errors.New("not yet")
		}
		return nil
	}))
	everybody := serve(t, config)

	expectReadyz := func(want bool) {
		t.Helper()
		if err := get(t, everybody, "/readyz"); (err == nil) != want {
			t.Errorf("readyz: got %v", err)
		}
	}
	expectReadyz(false)
	if err := get(t, everybody, "/version"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("before it is ready: got %v", err)
	}
	if err := get(t, everybody, "/livez"); err != nil {
		t.Errorf("liveness before it is ready: %v", err)
	}
	if err := get(t, config.LoopbackClientConfig, "/version"); err != nil {
		t.Errorf("the server itself, before it is ready: %v", err)
	}

	isWell.Store(true)
	eventually(t, "the server is ready", func() error { return get(t, everybody, "/readyz") })
	if err := get(t, everybody, "/version"); err != nil {
		t.Errorf("as soon as readyz says so: %v", err)
	}
	isWell.Store(false)
	expectReadyz(false)
	if err := get(t, everybody, "/version"); err != nil {
		t.Errorf("when a check fails later: %v", err)
	}
}

// serve runs a server of the configuration, which allows all requests, and returns how to reach it.
func serve(t *testing.T, config *genericapiserver.RecommendedConfig) *rest.Config {
	t.Helper()
	serving := genericoptions.NewSecureServingOptions().WithLoopback()
	serving.Listener, serving.BindPort = listen(t)
	serving.ServerCert.CertDirectory = t.TempDir()
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := serving.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		t.Fatal(err)
	}
	if err := (Config{Scheme: apiserver.Scheme, Store: healthz.PingHealthz}).ApplyTo(&config.Config); err != nil {
		t.Fatal(err)
	}
	server, err := config.Complete().New("test", genericapiserver.NewEmptyDelegate())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- server.PrepareRun().RunWithContext(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	everybody := &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", serving.BindPort),
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}
	eventually(t, "the server answers", func() error { return get(t, everybody, "/livez") })
	return everybody
}

func listen(t *testing.T) (net.Listener, int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener, listener.Addr().(*net.TCPAddr).Port
}

// get asks once.
func get(t *testing.T, config *rest.Config, path string) error {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.RESTClient().Get().AbsPath(path).MaxRetries(0).Do(t.Context()).Error()
}

// eventually tries check until it returns nil.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	const timeout = time.Minute
	deadline := time.Now().Add(timeout)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for this: %s. At last: %v", timeout, what, err)
		}
		time.Sleep(time.Millisecond)
	}
}
