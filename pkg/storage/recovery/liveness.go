// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// liveness detects whether the holder of the Lease may be alive. A live holder renews the Lease within its duration. Like leader
// election, liveness only uses the clock of this process.
type liveness struct {
	clock clock.PassiveClock

	holder  string
	renewed metav1.MicroTime
	since   time.Time
}

// isHeld returns whether a server that may be alive holds the Lease. The lease may be nil. isHeld must be called periodically.
func (l *liveness) isHeld(lease *coordinationv1.Lease) bool {
	if lease == nil || ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		return false
	}
	holder, renewed := *lease.Spec.HolderIdentity, ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{})
	if l.since.IsZero() || holder != l.holder || !renewed.Equal(&l.renewed) {
		l.holder, l.renewed, l.since = holder, renewed, l.clock.Now()
	}
	duration := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	return l.clock.Since(l.since) < duration
}
