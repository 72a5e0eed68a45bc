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

// liveness tells whether the holder of the Lease lives: it renews the Lease at least once in its duration. It goes by
// this process's clock alone, as leader election does.
type liveness struct {
	clock clock.PassiveClock

	holder  string
	renewed metav1.MicroTime
	since   time.Time
}

// isHeld returns whether the Lease, nil for none, is held by somebody who may live. It has to be asked again and again.
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
