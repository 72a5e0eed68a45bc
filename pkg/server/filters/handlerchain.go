// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package filters has the handler chain of the server: the filters of a generic API server, and those that it does not have.
package filters

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/server/filters/bodylimit"
)

// Config is what the filters depend on beside the configuration of the generic server.
type Config struct {
	// Scheme has the objects that the bodies of requests have.
	Scheme *runtime.Scheme
	// Store is the check of readyz that fails when the server must end, because its responses are no longer reliable.
	Store healthz.HealthChecker
	// Shortage returns why boxes may not grow, nil if they may. It is nil if nothing is known of the storage.
	Shortage func() error
}

// ApplyTo sets the handler chain of the server, with the checks and hooks of its filters.
func (c Config) ApplyTo(config *genericapiserver.Config) error {
	ready := make(chan struct{})
	d, err := newDrainer(config)
	if err != nil {
		return err
	}
	config.BuildHandlerChainFunc = func(handler http.Handler, generic *genericapiserver.Config) http.Handler {
		for _, wrap := range slices.Backward(c.handlerChain(generic, ready, d)) {
			handler = wrap(handler)
		}
		return handler
	}
	return awaitReadiness(config, ready)
}

// filter returns a handler that passes requests on to another one.
type filter func(http.Handler) http.Handler

// handlerChain returns the filters in the order in which a request passes them. Each has the reason for its place.
func (c Config) handlerChain(config *genericapiserver.Config, ready <-chan struct{}, d *drainer) []filter {
	return []filter{
		// First: the listener sends the first request itself, and no other filter may answer it.
		d.withServer,
		// Before authentication, which reads certificates from the cluster: a user would get 403 as long as they are not there.
		func(handler http.Handler) http.Handler {
			return withReadiness(handler, c.refusal(ready, d.shutdown), config.LoopbackClientConfig.BearerToken, config.Serializer)
		},
		// Before all filters that respond themselves, because a connection must end whether its last request is served or refused.
		d.wrap,
		// Before the generic filters as well: it adds a line to a response that is complete.
		func(handler http.Handler) http.Handler { return withShortage(handler, c.Shortage) },

		// Request info, audit, authentication, priority and fairness, authorization.
		func(handler http.Handler) http.Handler {
			return genericapiserver.DefaultBuildHandlerChain(handler, config)
		},

		// After the request info, by which it knows lists.
		withListBuffer,
		// After authorization: it reads the body, and a user who may not write must not take memory that others wait for.
		func(handler http.Handler) http.Handler {
			return bodylimit.WithLimit(handler, c.Scheme, config.Serializer, config.MaxRequestBodyBytes)
		},
		// Last: the answer of any filter, such as 401 for an invalid token, says nothing about the readiness of the server.
		d.observe,
	}
}

// refusal returns what says why the server refuses requests, empty if it serves them. A server that has been ready refuses them only
// because it has to end.
func (c Config) refusal(ready, shutdown <-chan struct{}) func(*http.Request) string {
	return func(r *http.Request) string {
		switch {
		case isClosed(ready) && c.Store.Check(r) == nil:
			return ""
		case isClosed(ready) || isClosed(shutdown):
			return stopping
		default:
			return starting
		}
	}
}
