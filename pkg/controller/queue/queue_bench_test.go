// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

const (
	benchmarkWorkers = 20
	// reconcileTime is the CPU time of a reconcile that finds nothing to do.
	reconcileTime = 500 * time.Microsecond
	// slowTime is how long a reconcile in namespace "slow" waits, as for a webhook that hangs, which may take longer.
	slowTime = time.Second
)

// benchmarkedQueues are the queue, and its peer, the one that client-go has.
var benchmarkedQueues = []struct {
	name string
	new  func() (queue workqueue.TypedInterface[types.NamespacedName], addResync func(types.NamespacedName))
}{
	{"Priority", func() (workqueue.TypedInterface[types.NamespacedName], func(types.NamespacedName)) {
		q := New("", benchmarkWorkers/2, clock.RealClock{})
		return q, q.AddWithLowPriority
	}},
	{"FIFO", func() (workqueue.TypedInterface[types.NamespacedName], func(types.NamespacedName)) {
		q := workqueue.NewTyped[types.NamespacedName]()
		return q, q.Add
	}},
}

// BenchmarkChangeDuringResync changes objects while 10,000 others are resynced, and reports how long it takes from a
// change to the end of its reconcile.
func BenchmarkChangeDuringResync(b *testing.B) {
	benchmarkChanges(b, "resync", 10000)
}

// BenchmarkChangeBesideASlowNamespace changes objects while 100 others wait whose reconciles hang, all of them of one
// namespace.
func BenchmarkChangeBesideASlowNamespace(b *testing.B) {
	benchmarkChanges(b, "slow", 100)
}

// benchmarkChanges makes changes of ten objects, 20 ms apart, while others of the namespace are in the queue.
func benchmarkChanges(b *testing.B, namespace string, others int) {
	burn := newBurner(reconcileTime)
	for _, row := range benchmarkedQueues {
		b.Run(row.name, func(b *testing.B) {
			var delays []time.Duration
			for b.Loop() {
				q, addResync := row.new()
				for i := range others {
					item := types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)}
					if namespace == "slow" {
						q.Add(item)
					} else {
						item.Namespace += fmt.Sprint(i % benchmarkWorkers)
						addResync(item)
					}
				}
				delays = append(delays, timeChanges(q, burn)...)
			}
			slices.Sort(delays)
			b.ReportMetric(delays[len(delays)/2].Seconds()*1000, "ms-median")
			b.ReportMetric(delays[len(delays)-1].Seconds()*1000, "ms-max")
			b.ReportMetric(0, "ns/op") // which is of no interest
		})
	}
}

// timeChanges processes the queue until changes of ten objects have been, and returns how long each took.
func timeChanges(q workqueue.TypedInterface[types.NamespacedName], burn func()) []time.Duration {
	const changes = 10
	var changed [changes]time.Time
	delays := make(chan time.Duration, changes)
	var workers sync.WaitGroup
	for range benchmarkWorkers {
		workers.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				if q.ShuttingDown() {
					q.Done(item)
					continue
				}
				if item.Namespace == "slow" {
					time.Sleep(slowTime)
				} else {
					burn()
				}
				var change int
				if _, err := fmt.Sscanf(item.Namespace, "changed-%d", &change); err == nil {
					delays <- time.Since(changed[change])
				}
				q.Done(item)
			}
		})
	}
	for i := range changes {
		time.Sleep(20 * time.Millisecond)
		changed[i] = time.Now()
		q.Add(types.NamespacedName{Namespace: fmt.Sprintf("changed-%d", i), Name: "web"})
	}
	took := make([]time.Duration, 0, changes)
	for range changes {
		took = append(took, <-delays)
	}
	q.ShutDown()
	workers.Wait()
	return took
}

// newBurner returns a function that takes that much CPU time.
func newBurner(cpuTime time.Duration) func() {
	hash := func(times int) {
		var sum [sha256.Size]byte
		for range times {
			sum = sha256.Sum256(sum[:])
		}
	}
	// The fastest of some samples is the one that nothing else held up.
	const sample = 1000
	fastest := time.Hour
	for range 20 {
		begin := time.Now()
		hash(sample)
		fastest = min(fastest, time.Since(begin))
	}
	times := int(sample * cpuTime / fastest)
	return func() { hash(times) }
}
