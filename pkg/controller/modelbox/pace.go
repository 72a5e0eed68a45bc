// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// progressPeriod is how often at most a status is written that only counts on. A rollout so costs one write for every
// one of these that it lasts, and one for every transition of a condition, however many pods it has.
const progressPeriod = 2 * time.Second

// statusPace remembers when the status of each box was written last. It is lost with the process, and then the next
// write is not put off.
type statusPace struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	written map[types.NamespacedName]time.Time
}

func newStatusPace(clock clock.PassiveClock) *statusPace {
	return &statusPace{clock: clock, written: map[types.NamespacedName]time.Time{}}
}

// delay returns how long to put off a change of the status, 0 for not at all.
func (p *statusPace) delay(box types.NamespacedName, before, after *modelv1.ModelBoxStatus) time.Duration {
	if !isMereProgress(before, after) {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, progressPeriod-p.clock.Since(p.written[box]))
}

func (p *statusPace) wrote(box types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written[box] = p.clock.Now()
}

func (p *statusPace) forget(box types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.written, box)
}

// isMereProgress returns whether nothing but numbers, names and messages differ: what waits for a box waits for a
// condition.
func isMereProgress(before, after *modelv1.ModelBoxStatus) bool {
	return apiequality.Semantic.DeepEqual(withoutProgress(before), withoutProgress(after))
}

func withoutProgress(status *modelv1.ModelBoxStatus) modelv1.ModelBoxStatus {
	lasting := modelv1.ModelBoxStatus{
		ObservedGeneration: status.ObservedGeneration,
		Selector:           status.Selector,
		Address:            status.Address,
		NodePorts:          status.NodePorts,
		Conditions:         slices.Clone(status.Conditions),
	}
	for i := range lasting.Conditions {
		lasting.Conditions[i].Message = ""
		lasting.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return lasting
}
