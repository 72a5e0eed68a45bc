// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// A pod for which the container was refused is tried again after a delay that doubles from the first to the last of these,
// whatever happens to it or to other pods meanwhile.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute

	// permissionRetry is the delay where the server may not change any pod: there is no event of that.
	permissionRetry = children.RecheckPeriod
)

// everyPod is the name for all pods, if the server may not change any pod.
const everyPod types.UID = ""

// refusal is what the cluster answered for a pod the last time.
type refusal struct {
	reason, message string
	// delay is that from the answer to the next try, which is at retryAt.
	delay   time.Duration
	retryAt time.Time
}

// refusalRecord remembers refusals. It is lost with the process, and then every pod is tried once more.
type refusalRecord struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	byPods map[types.NamespacedName]map[types.UID]refusal
}

func newRefusalRecord(clock clock.PassiveClock) *refusalRecord {
	return &refusalRecord{clock: clock, byPods: map[types.NamespacedName]map[types.UID]refusal{}}
}

// of returns the refusal for a pod of the PodDebugger, and after how long the pod is to be tried again, 0 for at once. It is false
// where there was none.
func (r *refusalRecord) of(debugger types.NamespacedName, pod types.UID) (refusal, time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, ok := r.byPods[debugger][pod]
	return last, max(0, last.retryAt.Sub(r.clock.Now())), ok
}

// refused records another refusal, and returns it.
func (r *refusalRecord) refused(debugger types.NamespacedName, pod types.UID, reason, text string) refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byPods[debugger] == nil {
		r.byPods[debugger] = map[types.UID]refusal{}
	}
	next := refusal{reason: reason, message: message.Truncate(text), delay: firstRetry}
	if last, ok := r.byPods[debugger][pod]; ok {
		next.delay = min(2*last.delay, lastRetry)
	}
	if pod == everyPod {
		next.delay = permissionRetry
	}
	next.retryAt = r.clock.Now().Add(next.delay)
	r.byPods[debugger][pod] = next
	return next
}

// retain forgets the refusals for all pods of the PodDebugger but these, and not that for everyPod where there is still one.
func (r *refusalRecord) retain(debugger types.NamespacedName, pods map[types.UID]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for pod := range r.byPods[debugger] {
		if !pods[pod] && (pod != everyPod || len(pods) == 0) {
			delete(r.byPods[debugger], pod)
		}
	}
	if len(r.byPods[debugger]) == 0 {
		delete(r.byPods, debugger)
	}
}

// Forget implements reconciler.Forgetter.
func (r *refusalRecord) Forget(debugger types.NamespacedName) { r.retain(debugger, nil) }
