// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"sync"
	"time"
)

// failureMemory is how long a controller that could not work is unhealthy unless it tries again. It does not where another
// server does its work.
const failureMemory = 5 * time.Minute

// runningController is a controller that may not be able to work.
type runningController interface {
	// CheckHealth returns why it cannot work, nil as long as it may.
	CheckHealth() error
	// HasSynced returns whether it works.
	HasSynced() bool
}

// controllerHealth is the health check of a controller that runs whenever this server leads.
type controllerHealth struct {
	name string

	mu      sync.Mutex
	current runningController
	// failure is why the controller could not work when it was tried last.
	failure  error
	failedAt time.Time
}

// Name is that of the controller.
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
func (h *controllerHealth) running(controller runningController) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = controller
}

// ended says that the controller does not run any more, and why it could not work, nil if it could.
func (h *controllerHealth) ended(failure error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.failure, h.failedAt = nil, failure, time.Now()
}
