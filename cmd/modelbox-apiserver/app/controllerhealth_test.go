// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/cachehealth"
)

type fakeController struct {
	controller.Controller
	err    error
	synced bool
}

func (c *fakeController) CheckHealth() error { return c.err }
func (c *fakeController) HasSynced() bool    { return c.synced }

func TestControllerHealth(t *testing.T) {
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

func TestControllersThatCannotWorkAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		begin, tries := time.Now(), 0
		err := runUntilDone(ctx, 15*time.Second, func(context.Context) error {
			if tries++; tries == 3 {
				stop()
			}
			return fmt.Errorf("starting: %w", cachehealth.ErrCacheNotSynced)
		})
		if err != nil || tries != 3 || time.Since(begin) != 30*time.Second {
			t.Errorf("%d tries in %s ended with %v", tries, time.Since(begin), err)
		}
	})
}

func TestControllersThatFailToStartEndTheServer(t *testing.T) {
	broken := errors.New("no index")
	if err := runUntilDone(t.Context(), time.Minute, func(context.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
}
