// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package filters

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const (
	// acceptingRequests is a check of readyz and the hook that lets it pass.
	acceptingRequests = "accepting-requests"

	// readinessPeriod is how often the server looks whether it is ready, until it is once.
	readinessPeriod = 50 * time.Millisecond
	// readinessTimeout is how long one such look may take.
	readinessTimeout = 5 * time.Second

	// Why a request is refused.
	starting = "the server is starting and not ready yet"
	stopping = "the server is shutting down"

	// retryAfterSeconds is when a request that came too early is worth trying again. There is nothing shorter.
	retryAfterSeconds = 1
)

// awaitReadiness closes ready as soon as the server is ready, and has it be ready no sooner.
func awaitReadiness(config *genericapiserver.Config, ready chan struct{}) error {
	config.AddReadyzChecks(healthz.NamedCheck(acceptingRequests, func(*http.Request) error {
		if !isClosed(ready) {
			return errors.New("requests are refused until the other checks pass")
		}
		return nil
	}))
	return config.AddPostStartHook(acceptingRequests, func(hook genericapiserver.PostStartHookContext) error {
		client, err := loopbackClient(hook.LoopbackClientConfig)
		if err != nil {
			return err
		}
		go func() {
			if awaitReadyz(hook, client) == nil {
				close(ready)
			}
		}()
		return nil
	})
}

func loopbackClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.Timeout = readinessTimeout
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of this server's health: %w", err)
	}
	return client.RESTClient(), nil
}

// awaitReadyz returns nil as soon as all checks of readyz pass but the one that waits for it.
func awaitReadyz(ctx context.Context, client rest.Interface) error {
	return wait.PollUntilContextCancel(ctx, readinessPeriod, true, func(ctx context.Context) (bool, error) {
		err := client.Get().AbsPath("/readyz").Param("exclude", acceptingRequests).Do(ctx).Error()
		return err == nil, nil
	})
}

// withReadiness answers requests with 503 and the reason while refusal returns one. It always serves requests for health, and those
// with the token, which only this process knows.
func withReadiness(handler http.Handler, refusal func(*http.Request) string, token string, serializer runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isHealth(r.URL.Path) || hasToken(r, token) {
			handler.ServeHTTP(w, r)
			return
		}
		why := refusal(r)
		if why == "" {
			handler.ServeHTTP(w, r)
			return
		}
		responsewriters.ErrorNegotiated(notReady(why), serializer, metav1.Unversioned, w, r)
	})
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func isHealth(path string) bool {
	for _, endpoint := range []string{"/livez", "/readyz", "/healthz"} {
		if path == endpoint || strings.HasPrefix(path, endpoint+"/") {
			return true
		}
	}
	return false
}

func hasToken(r *http.Request, token string) bool {
	given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return isBearer && token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

func notReady(why string) *apierrors.StatusError {
	err := apierrors.NewServiceUnavailable(why + ", please try again")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfterSeconds}
	return err
}
