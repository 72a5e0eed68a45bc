// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
)

func leaseOf(holder string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
		HolderIdentity:       &holder,
		LeaseDurationSeconds: ptr.To[int32](15),
		RenewTime:            ptr.To(metav1.NewMicroTime(renewed)),
	}}
}

func TestLeaseIsHeldUntilItWasNotRenewedForItsDuration(t *testing.T) {
	now := time.Unix(1000, 0)
	clock := clocktesting.NewFakePassiveClock(now)
	l := &liveness{clock: clock}
	at := func(seconds int) { clock.SetTime(now.Add(time.Duration(seconds) * time.Second)) }
	expect := func(lease *coordinationv1.Lease, want bool, when string) {
		t.Helper()
		if got := l.isHeld(lease); got != want {
			t.Errorf("%s: held: %t", when, got)
		}
	}
	expect(nil, false, "there is no Lease")
	expect(leaseOf("", now), false, "the Lease was released")
	// The clock of the holder may differ: only changes of the Lease count.
	old := now.Add(-time.Hour)
	expect(leaseOf("one", old), true, "seen for the first time")
	at(14)
	expect(leaseOf("one", old), true, "before its duration has passed")
	expect(leaseOf("one", old.Add(time.Second)), true, "it was renewed")
	at(28)
	expect(leaseOf("one", old.Add(time.Second)), true, "before the duration has passed since")
	at(29)
	expect(leaseOf("one", old.Add(time.Second)), false, "it was not renewed")
	expect(leaseOf("two", old.Add(time.Second)), true, "another server took it")
	at(43)
	expect(leaseOf("two", old.Add(time.Second)), true, "before its duration has passed since")
	at(44)
	expect(leaseOf("two", old.Add(time.Second)), false, "the other server did not renew it")
}
