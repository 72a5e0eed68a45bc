// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/server/mux"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
)

type fakeController struct {
	controller.Controller
	err    error
	synced bool
}

func (c *fakeController) Name() string { return "modelbox" }

// Run cannot work, and ends when its context is done.
func (c *fakeController) Run(ctx context.Context) error {
	<-ctx.Done()
	return c.err
}

func (c *fakeController) CheckHealth() error { return c.err }
func (c *fakeController) HasSynced() bool    { return c.synced }

func TestControllerHealthRemembersWhyAControllerCouldNotWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		health := &controllerHealth{name: "modelbox"}
		expect := func(when string, want error) {
			t.Helper()
			if got := health.Check(nil); got != want {
				t.Errorf("%s: got %v, want %v", when, got, want)
			}
		}
		forbidden, controller := errors.New("forbidden"), &fakeController{}
		expect("before anything", nil)
		health.running(controller)
		expect("at the start", nil)
		controller.err = forbidden
		expect("while it cannot work", forbidden)
		health.ended(forbidden)
		expect("when it has given up", forbidden)
		health.running(&fakeController{})
		expect("while it tries again", forbidden)
		health.running(&fakeController{synced: true})
		expect("when it works", nil)
		health.ended(nil)
		expect("when another server leads", nil)
		health.ended(forbidden)
		time.Sleep(failureMemory + time.Second)
		expect("when another server has led for long", nil)
	})
}

func TestControllersHealthIsServedByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		health, mux := newControllersHealth([]*controller.Descriptor{controller.NewDescriptors()["modelbox"]}), mux.NewPathRecorderMux("test")
		health.install(mux)
		status := func() map[string]int {
			codes := map[string]int{}
			for _, path := range []string{"/healthz/controllers", "/healthz/controllers/modelbox", "/healthz/controllers/network"} {
				response := httptest.NewRecorder()
				mux.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
				codes[path] = response.Code
			}
			return codes
		}
		expect := func(when string, code int) {
			t.Helper()
			want := map[string]int{"/healthz/controllers": code, "/healthz/controllers/modelbox": code, "/healthz/controllers/network": http.StatusNotFound}
			if diff := cmp.Diff(want, status()); diff != "" {
				t.Errorf("%s, -want +got:\n%s", when, diff)
			}
		}
		expect("before it runs", http.StatusOK)

		ctx, stop := context.WithCancel(t.Context())
		failure := errors.New("forbidden")
		observed := health.observe([]controller.Controller{&fakeController{err: failure}})
		ended := make(chan error)
		go func() { ended <- observed[0].Run(ctx) }()
		synctest.Wait()
		expect("while it cannot work", http.StatusInternalServerError)
		stop()
		if err := <-ended; err != failure {
			t.Errorf("it ended with %v", err)
		}
		expect("when it has given up", http.StatusInternalServerError)
	})
}
