// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// ProgressPeriod is how often at most a status is written that only counts on. A rollout so costs one write for every
// one of these that it lasts, and one for every transition of a condition, however many pods it has.
const ProgressPeriod = 2 * time.Second

// StatusPace remembers when the status of each object was written last. It is lost with the process, and then the next
// write is not put off.
type StatusPace struct {
	clock   clock.PassiveClock
	written *Memory[time.Time]
}

// NewStatusPace returns a StatusPace that remembers nothing.
func NewStatusPace(clock clock.PassiveClock) *StatusPace {
	return &StatusPace{clock: clock, written: NewMemory[time.Time]()}
}

// ProgressDelay returns how long to put off a change of the status that is mere progress, 0 for not at all.
func (p *StatusPace) ProgressDelay(object types.NamespacedName) time.Duration {
	written, _ := p.written.Get(object)
	return max(0, ProgressPeriod-p.clock.Since(written))
}

// Wrote records that the status of the object was written.
func (p *StatusPace) Wrote(object types.NamespacedName) {
	p.written.Set(object, p.clock.Now())
}

// Forget drops what is remembered of an object that is gone.
func (p *StatusPace) Forget(object types.NamespacedName) { p.written.Forget(object) }
