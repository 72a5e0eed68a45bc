// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/mux"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
)

const (
	// controllersPath is where the health of the controllers is served, each under its name. It is apart from /livez and
	// /readyz: a server whose controllers cannot work serves boxes all the same, and a restart would not help.
	controllersPath = "/healthz/controllers"

	// failureMemory is how long a controller that could not work is unhealthy unless it tries again. It does not where
	// another server does its work.
	failureMemory = 5 * time.Minute
)

// controllersHealth is the health of each controller that is enabled, by its name.
type controllersHealth map[string]*controllerHealth

func newControllersHealth(descriptors []*controller.Descriptor) controllersHealth {
	checks := controllersHealth{}
	for _, descriptor := range descriptors {
		checks[descriptor.Name()] = &controllerHealth{name: descriptor.Name()}
	}
	return checks
}

// install serves the health of each controller, and of all of them together.
func (h controllersHealth) install(mux *mux.PathRecorderMux) {
	checks := make([]healthz.HealthChecker, 0, len(h))
	for _, check := range h {
		checks = append(checks, check)
	}
	healthz.InstallPathHandler(mux, controllersPath, checks...)
}

// observe returns the same controllers, whose health is known while they run.
func (h controllersHealth) observe(controllers []controller.Controller) []controller.Controller {
	observed := make([]controller.Controller, 0, len(controllers))
	for _, c := range controllers {
		observed = append(observed, &observedController{c, h[c.Name()]})
	}
	return observed
}

// observedController is a controller whose health check knows when it runs.
type observedController struct {
	controller.Controller
	health *controllerHealth
}

// Run runs the controller.
func (c *observedController) Run(ctx context.Context) error {
	c.health.running(c.Controller)
	err := c.Controller.Run(ctx)
	c.health.ended(err)
	return err
}

// controllerHealth is the health check of a controller that runs whenever this server leads.
type controllerHealth struct {
	name string

	mu sync.Mutex
	// current is nil while the controller does not run.
	current controller.Controller
	// failure is why the controller could not work when it was tried last.
	failure  error
	failedAt time.Time
}

// Name returns the name of the controller.
func (h *controllerHealth) Name() string { return h.name }

// Check returns why the controller cannot work.
func (h *controllerHealth) Check(*http.Request) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current != nil {
		if err := h.current.CheckHealth(); err != nil || h.current.HasSynced() {
			return err
		}
	}
	if time.Since(h.failedAt) > failureMemory {
		return nil
	}
	return h.failure
}

// running says that the controller runs.
func (h *controllerHealth) running(c controller.Controller) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = c
}

// ended records that the controller no longer runs, and the error that it ended with, nil for none.
func (h *controllerHealth) ended(failure error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.failure, h.failedAt = nil, failure, time.Now()
}
