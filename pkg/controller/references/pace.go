// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package references

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// burst is the number of boxes that may restart at once, half of them in one namespace.
const burst = 10

// pace limits how many boxes restart in a second, so that a change of an object that very many boxes refer to does not restart all of
// them at once. Boxes of one namespace get at most half of the rate.
type pace struct {
	clock clock.PassiveClock
	rate  rate.Limit
	all   *rate.Limiter
	// due is the time from which a box may restart.
	due *reconciler.Memory[time.Time]

	mu          sync.Mutex
	byNamespace map[string]*rate.Limiter
}

// newPace returns a pace of so many restarts a second.
func newPace(perSecond float64, clock clock.PassiveClock) *pace {
	return &pace{
		clock:       clock,
		rate:        rate.Limit(perSecond),
		all:         rate.NewLimiter(rate.Limit(perSecond), burst),
		due:         reconciler.NewMemory[time.Time](),
		byNamespace: map[string]*rate.Limiter{},
	}
}

// wait returns how long a box must wait for its restart, 0 if it may restart now. A box keeps its turn until Forget.
func (p *pace) wait(box types.NamespacedName) time.Duration {
	now := p.clock.Now()
	due, isKnown := p.due.Get(box)
	if !isKnown {
		due = now.Add(max(p.all.ReserveN(now, 1).DelayFrom(now), p.limiterOf(box.Namespace).ReserveN(now, 1).DelayFrom(now)))
		p.due.Set(box, due)
	}
	return max(0, due.Sub(now))
}

// Forget implements reconciler.Forgetter. The next restart of the box needs another turn.
func (p *pace) Forget(box types.NamespacedName) { p.due.Forget(box) }

func (p *pace) limiterOf(namespace string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	limiter, isKnown := p.byNamespace[namespace]
	if !isKnown {
		limiter = rate.NewLimiter(p.rate/2, burst/2)
		p.byNamespace[namespace] = limiter
	}
	return limiter
}
