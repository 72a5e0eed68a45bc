// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	componentbaseconfig "k8s.io/component-base/config"
)

func TestWorkRunsWithTheLease(t *testing.T) {
	c := newCluster()
	holder := make(chan string, 1)
	run := start(t, c, configuration(), "one", func(ctx context.Context) {
		holder <- c.holder()
		<-ctx.Done()
	})
	if got := <-holder; got != "one" {
		t.Errorf("while one works, %q holds the Lease", got)
	}
	run.stop(t)
	if got := c.holder(); got != "" {
		t.Errorf("after one has stopped, %q holds the Lease", got)
	}
}

func TestTheLeaseIsReleasedAfterTheLastWrite(t *testing.T) {
	c := newCluster()
	var work working
	var isStopping atomic.Bool
	renewed, released := make(chan struct{}, 1), make(chan struct{}, 1)
	c.onUpdate = func(holder string) error {
		switch {
		case holder == "":
			if work.now.Load() != 0 {
				t.Error("the Lease was released while work was still being done")
			}
			tell(released)
		case isStopping.Load():
			tell(renewed)
		}
		return nil
	}
	begun := make(chan struct{})
	run := start(t, c, configuration(), "one", func(ctx context.Context) {
		work.during(t, func() {
			close(begun)
			<-ctx.Done()
			// The last write takes until the Lease has been renewed once more.
			isStopping.Store(true)
			select {
			case <-renewed:
			case <-released:
			}
		})
	})
	<-begun
	run.stop(t)
	if got := c.holder(); got != "" {
		t.Errorf("after the end, %q holds the Lease", got)
	}
}

func tell(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

func TestOneAtATime(t *testing.T) {
	c := newCluster()
	var work working
	leaders := make(chan string)
	runs := map[string]*campaigner{}
	for i := range 4 {
		identity := fmt.Sprint("campaigner ", i)
		runs[identity] = start(t, c, configuration(), identity, func(ctx context.Context) {
			work.during(t, func() {
				leaders <- identity
				<-ctx.Done()
			})
		})
	}
	for len(runs) > 0 {
		leader := <-leaders
		if got := c.holder(); got != leader {
			t.Errorf("%s leads, %q holds the Lease", leader, got)
		}
		runs[leader].stop(t)
		delete(runs, leader)
	}
	if got := work.total.Load(); got != 4 {
		t.Errorf("work was done %d times, want once by each of 4", got)
	}
}

func TestWhoDoesNotLeadCanStop(t *testing.T) {
	c := newCluster()
	leads := make(chan struct{})
	first := start(t, c, configuration(), "first", func(ctx context.Context) {
		close(leads)
		<-ctx.Done()
	})
	<-leads
	second := start(t, c, configuration(), "second", func(context.Context) { t.Error("the second one leads as well") })
	second.stop(t)
	if got := c.holder(); got != "first" {
		t.Errorf("%q holds the Lease", got)
	}
	first.stop(t)
}

func TestALostLeadStopsWorkBeforeItIsReleasedAndIsWonAgain(t *testing.T) {
	c := newCluster()
	var work working
	// From the beginning of work on, the Lease cannot be renewed until work has seen that the lead is lost.
	var isCutOff atomic.Bool
	c.onUpdate = func(holder string) error {
		if holder == "" && work.now.Load() != 0 {
			t.Error("the Lease was released while work was still being done")
		}
		if isCutOff.Load() && holder != "" {
			return errors.New("cut off")
		}
		return nil
	}
	config := configuration()
	config.RenewDeadline.Duration = 50 * time.Millisecond

	again := make(chan struct{})
	run := start(t, c, config, "one", func(ctx context.Context) {
		work.during(t, func() {
			if work.total.Load() == 2 {
				close(again)
			} else {
				isCutOff.Store(true)
			}
			<-ctx.Done()
			isCutOff.Store(false)
		})
	})
	<-again
	run.stop(t)
}

func TestAConfigurationThatCannotWork(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*componentbaseconfig.LeaderElectionConfiguration)
	}{
		{"a lock of an unknown kind", func(c *componentbaseconfig.LeaderElectionConfiguration) { c.ResourceLock = "configmaps" }},
		{"a Lease that runs out before its renewal", func(c *componentbaseconfig.LeaderElectionConfiguration) { c.LeaseDuration.Duration = time.Second }},
	} {
		t.Run(row.name, func(t *testing.T) {
			config := configuration()
			row.change(&config)
			err := Run(t.Context(), newCluster().CoordinationV1(), config, "one", &Fence{}, nil, func(context.Context) { t.Error("work is done") })
			if err == nil {
				t.Error("it is accepted")
			}
		})
	}
}
