// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
)

const modelBoxes = "/apis/model.github.com/v1/namespaces/default/modelboxes"

// testChain is a handler chain around a handler, in a server that is ready.
type testChain struct {
	config  *genericapiserver.Config
	ready   chan struct{}
	drainer *drainer
	store   error
	// isAuthenticated is whether the chain has asked who the user is.
	isAuthenticated bool
}

// newTestChain returns a chain in which the user "jane" may do everything, a user without a token nothing, and a token of another
// user is invalid.
func newTestChain(t *testing.T) *testChain {
	t.Helper()
	c := &testChain{config: genericapiserver.NewConfig(apiserver.Codecs), ready: make(chan struct{}), drainer: &drainer{}}
	close(c.ready)
	c.config.LoopbackClientConfig = &rest.Config{BearerToken: "only-this-process-knows"}
	c.config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	c.config.FeatureGate = utilfeature.DefaultFeatureGate
	c.config.MaxRequestBodyBytes = 1 << 10
	c.config.RequestInfoResolver = &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("apis"), GrouplessAPIPrefixes: sets.NewString()}
	c.config.Authentication.Authenticator = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		c.isAuthenticated = true
		switch r.Header.Get("Authorization") {
		case "Bearer jane":
			return &authenticator.Response{User: &user.DefaultInfo{Name: "jane"}}, true, nil
		case "":
			return &authenticator.Response{User: &user.DefaultInfo{Name: user.Anonymous}}, true, nil
		default:
			return nil, false, errors.New("invalid token")
		}
	})
	c.config.Authorization.Authorizer = authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "jane" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	return c
}

// serve returns the response to a request. The handler behind the chain answers with status.
func (c *testChain) serve(t *testing.T, request *http.Request, status int) *writeRecorder {
	t.Helper()
	c.isAuthenticated = false
	filters := Config{Scheme: apiserver.Scheme, Store: healthz.NamedCheck("store", func(*http.Request) error { return c.store })}
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		for range 4 {
			_, _ = io.WriteString(w, "item ")
		}
	})
	chain := filters.handlerChain(c.config, c.ready, c.drainer)
	for i := len(chain) - 1; i >= 0; i-- {
		handler = chain[i](handler)
	}
	response := &writeRecorder{ResponseRecorder: httptest.NewRecorder()}
	handler.ServeHTTP(response, request)
	return response
}

func newRequest(method, path, token string, body []byte) *http.Request {
	request := httptest.NewRequest(method, path, bytes.NewReader(body))
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request
}

func TestServerThatIsNotReadyAuthenticatesNoUser(t *testing.T) {
	for _, row := range []struct {
		name  string
		ready chan struct{}
		store error
	}{
		{"before it is ready", make(chan struct{}), nil},
		{"when its store was replaced", nil, errors.New("replaced")},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newTestChain(t)
			if row.ready != nil {
				c.ready = row.ready
			}
			c.store = row.store
			response := c.serve(t, newRequest(http.MethodGet, modelBoxes, "invalid", nil), http.StatusOK)
			if response.Code != http.StatusServiceUnavailable || c.isAuthenticated {
				t.Errorf("got %d, and the user was authenticated: %t", response.Code, c.isAuthenticated)
			}
		})
	}
}

func TestReasonOfRefusals(t *testing.T) {
	open, closed, failure := make(chan struct{}), make(chan struct{}), errors.New("the store was not looked at yet")
	close(closed)
	for _, row := range []struct {
		name            string
		ready, shutdown chan struct{}
		store           error
		want            string
	}{
		{"the store is not checked yet", open, open, failure, starting},
		{"another check fails", open, open, nil, starting},
		{"the server is stopped before it is ready", open, closed, failure, stopping},
		{"the store was replaced", closed, open, failure, stopping},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newTestChain(t)
			c.ready, c.drainer.shutdown, c.store = row.ready, row.shutdown, row.store
			response := c.serve(t, newRequest(http.MethodGet, modelBoxes, "jane", nil), http.StatusOK)
			if got := response.Body.String(); response.Code != http.StatusServiceUnavailable || !strings.Contains(got, row.want) {
				t.Errorf("got %d %s, want %q", response.Code, got, row.want)
			}
		})
	}
}

func TestRefusedRequestsEndTheirConnectionAsWell(t *testing.T) {
	c := newTestChain(t)
	c.drainer.unready.Store(true)
	for token, status := range map[string]int{"jane": http.StatusOK, "": http.StatusForbidden, "invalid": http.StatusUnauthorized} {
		response := c.serve(t, newRequest(http.MethodGet, modelBoxes, token, nil), http.StatusOK)
		if response.Code != status || response.Header().Get("Connection") != "close" {
			t.Errorf("with the token %q, got %d, want %d, with the header %q", token, response.Code, status, response.Header())
		}
	}
}

// Only the checks of readyz tell whether the server is ready, not the refusal of a request for them.
func TestReadinessIsThatOfTheChecks(t *testing.T) {
	c := newTestChain(t)
	for _, row := range []struct {
		token   string
		status  int
		unready bool
	}{
		{"invalid", http.StatusInternalServerError, false},
		{"", http.StatusInternalServerError, false},
		{"jane", http.StatusInternalServerError, true},
		{"invalid", http.StatusOK, true},
		{"jane", http.StatusOK, false},
	} {
		c.serve(t, newRequest(http.MethodGet, "/readyz", row.token, nil), row.status)
		if got := c.drainer.unready.Load(); got != row.unready {
			t.Errorf("after a request with the token %q, whose checks answer %d, connections end: %t", row.token, row.status, got)
		}
	}
}

func TestBodiesOfRefusedRequestsAreNotRead(t *testing.T) {
	c := newTestChain(t)
	for token, status := range map[string]int{"jane": http.StatusRequestEntityTooLarge, "": http.StatusForbidden} {
		request := newRequest(http.MethodPost, modelBoxes, token, bytes.Repeat([]byte(" "), 2<<10))
		request.Header.Set("Content-Type", "application/json")
		if response := c.serve(t, request, http.StatusCreated); response.Code != status {
			t.Errorf("with the token %q, got %d, want %d", token, response.Code, status)
		}
	}
}

func TestListsAreBuffered(t *testing.T) {
	c := newTestChain(t)
	for path, writes := range map[string]int{modelBoxes: 1, modelBoxes + "/web": 4} {
		response := c.serve(t, newRequest(http.MethodGet, path, "jane", nil), http.StatusOK)
		if got := response.Body.String(); got != strings.Repeat("item ", 4) || len(response.sizes) != writes {
			t.Errorf("%s: got %q in %d writes, want %d", path, got, len(response.sizes), writes)
		}
	}
}
