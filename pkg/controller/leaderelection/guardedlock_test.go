// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package leaderelection

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"
)

// isOpen tells whether a write gets through.
func isOpen(t *testing.T, f *Fence) bool {
	t.Helper()
	err := send(t, f, &transport{}, http.MethodPatch)
	if err != nil && !errors.Is(err, ErrNotLeading) {
		t.Error(err)
	}
	return err == nil
}

// newHeldLock returns a lock that has just acquired the Lease.
func newHeldLock(t *testing.T, c *cluster, f *Fence) *guardedLock {
	t.Helper()
	lock, err := resourcelock.New("leases", "modelbox-system", "modelbox-controller",
		nil, c.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: "one"})
	if err != nil {
		t.Fatal(err)
	}
	held := &guardedLock{Interface: lock, fence: f}
	if err := held.Create(t.Context(), record("one")); err != nil {
		t.Fatal(err)
	}
	return held
}

// record holds the Lease for a minute.
func record(holder string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 60}
}

func TestTheFenceIsOpenFromTheBeginningOfTheLastRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fence
		c := newCluster()
		lock := newHeldLock(t, c, &f)
		time.Sleep(30 * time.Second)
		c.onUpdate = func(string) error {
			time.Sleep(10 * time.Second)
			return nil
		}
		if err := lock.Update(t.Context(), record("one")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50*time.Second - 1*time.Nanosecond)
		if !isOpen(t, &f) {
			t.Error("it is closed although the Lease was renewed")
		}
		time.Sleep(1 * time.Nanosecond)
		if isOpen(t, &f) {
			t.Error("it counts from the end of the renewal, which other candidates may have seen long before")
		}
	})
}

func TestARenewalThatFailsKeepsNothingOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fence
		c := newCluster()
		lock := newHeldLock(t, c, &f)
		c.onUpdate = func(string) error { return errors.New("cut off") }
		time.Sleep(30 * time.Second)
		if err := lock.Update(t.Context(), record("one")); err == nil {
			t.Fatal("the Lease was renewed")
		}
		if !isOpen(t, &f) {
			t.Error("it is closed before the Lease may have run out")
		}
		time.Sleep(30 * time.Second)
		if isOpen(t, &f) {
			t.Error("it is open although the Lease was not renewed")
		}
	})
}

func TestTheFenceIsClosedBeforeTheLeaseIsReleased(t *testing.T) {
	var f Fence
	c := newCluster()
	lock := newHeldLock(t, c, &f)
	c.onUpdate = func(string) error {
		if isOpen(t, &f) {
			t.Error("it is open while the Lease is released")
		}
		return nil
	}
	if err := lock.Update(t.Context(), record("")); err != nil {
		t.Fatal(err)
	}
	if got := c.holder(); got != "" {
		t.Errorf("%q holds the Lease", got)
	}
}

func TestALeaseThatIsNotReleasedWhileWorkIsDoneStaysOpen(t *testing.T) {
	var f Fence
	c := newCluster()
	lock := newHeldLock(t, c, &f)
	lock.isHeld.Store(true)
	if err := lock.Update(t.Context(), record("")); !errors.Is(err, errStillWorking) {
		t.Errorf("got %v, want %v", err, errStillWorking)
	}
	if !isOpen(t, &f) {
		t.Error("the last writes do not get through")
	}
}

// The elector of a process that was frozen releases what it believes to hold, with the version that it reads just
// before.
func TestTheLeaseOfAnotherIsNotReleased(t *testing.T) {
	c := newCluster()
	lock := newHeldLock(t, c, &Fence{})
	c.store(&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("another")}}, 2)
	if _, _, err := lock.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lock.Update(t.Context(), record("")); err != nil {
		t.Fatal(err)
	}
	if got := c.holder(); got != "another" {
		t.Errorf("%q holds the Lease, want the one that took it", got)
	}
}

func TestRunOpensTheFenceForWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Fence
		c := newCluster()
		config := configuration()
		config.LeaseDuration.Duration = minute
		config.RenewDeadline.Duration = 40 * time.Second
		config.RetryPeriod.Duration = 10 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		err := Run(ctx, c.CoordinationV1(), config, "one", &f, nil, func(ctx context.Context) {
			for range 10 {
				if !isOpen(t, &f) {
					t.Error("it is closed while the Lease is renewed")
				}
				time.Sleep(minute / 2)
			}
			cancel()
			<-ctx.Done()
			if !isOpen(t, &f) {
				t.Error("the last writes do not get through")
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if isOpen(t, &f) {
			t.Error("it is open after the end")
		}
	})
}
