// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// next returns the name of the item that a worker would get, and is done with it.
func (q *Queue) next(t *testing.T) string {
	t.Helper()
	if q.Len() == 0 {
		t.Fatal("the queue is empty")
	}
	item, _ := q.Get()
	q.Done(item)
	return item.Name
}

// testQueue runs a test, in a time of its own, with a queue in which another item waits with low priority.
func testQueue(t *testing.T, test func(t *testing.T, q *Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := New("test", math.MaxInt, clock.RealClock{})
		defer q.ShutDown()
		q.AddWithLowPriority(keyNamed("other"))
		test(t, q)
	})
}

func TestAddIsOfNormalPriority(t *testing.T) {
	testQueue(t, func(t *testing.T, q *Queue) {
		q.AddWithLowPriority(keyNamed("web"))
		q.Add(keyNamed("web"))
		if got := q.next(t); got != "web" {
			t.Errorf("%s goes first", got)
		}
	})
}

func TestAddIsOfNormalPriorityWhileTheItemIsProcessed(t *testing.T) {
	testQueue(t, func(t *testing.T, q *Queue) {
		q.Add(keyNamed("web"))
		item, _ := q.Get()
		q.AddWithLowPriority(item)
		q.Add(item)
		q.AddWithLowPriority(item)
		q.Done(item)
		if got := q.next(t); got != "web" {
			t.Errorf("%s goes first", got)
		}
	})
}

func TestDelayedItemsAreOfNormalPriorityWhenTheirDelayIsOver(t *testing.T) {
	for _, row := range []struct {
		name string
		add  func(q *Queue, item types.NamespacedName)
	}{
		{"after a while", func(q *Queue, item types.NamespacedName) { q.AddAfter(item, firstRetry) }},
		{"after a failure", func(q *Queue, item types.NamespacedName) { q.AddRateLimited(item) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			testQueue(t, func(t *testing.T, q *Queue) {
				row.add(q, keyNamed("web"))
				q.AddWithLowPriority(keyNamed("web"))
				for _, want := range []string{"other", "web"} {
					if got := q.next(t); got != want {
						t.Fatalf("before the delay is over: got %s, want %s", got, want)
					}
				}
				q.AddWithLowPriority(keyNamed("other"))
				time.Sleep(firstRetry)
				synctest.Wait()
				if got := q.next(t); got != "web" {
					t.Errorf("when the delay is over, %s goes first", got)
				}
			})
		})
	}
}

// However many items fail at the same time, each is tried again as soon as if it were the only one.
func TestAnItemThatFailsDelaysNoOther(t *testing.T) {
	testQueue(t, func(t *testing.T, q *Queue) {
		const items = 1000
		for i := range items {
			q.AddRateLimited(keyNamed(fmt.Sprint(i)))
		}
		time.Sleep(firstRetry)
		synctest.Wait()
		if got := q.Len(); got != 1+items {
			t.Errorf("got %d items, want %d and the other one", got, items)
		}
	})
}

// TestNothingIsLostBetweenWorkers adds items from many goroutines at once. A worker must later see the state of an item at the time
// when it was added, and no two workers may have the same item.
func TestNothingIsLostBetweenWorkers(t *testing.T) {
	const items, changes, workers, writers = 20, 500, 4, 4
	q := New("test", math.MaxInt, clock.RealClock{})

	var now, seen [items]atomic.Int64
	var isProcessed [items]atomic.Bool
	index := map[types.NamespacedName]int{}
	for i := range items {
		index[keyNamed(fmt.Sprint(i))] = i
	}

	var working, writing sync.WaitGroup
	for range workers {
		working.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				i := index[item]
				if isProcessed[i].Swap(true) {
					t.Errorf("two workers have %s", item)
				}
				seen[i].Store(now[i].Load())
				isProcessed[i].Store(false)
				q.Done(item)
			}
		})
	}
	for writer := range writers {
		writing.Go(func() {
			for change := range changes {
				for item, i := range index {
					now[i].Add(1)
					if (writer+change)%2 == 0 {
						q.AddWithLowPriority(item)
					} else {
						q.Add(item)
					}
				}
			}
		})
	}
	writing.Wait()
	q.ShutDown() // which lets workers finish what is in it
	working.Wait()

	for item, i := range index {
		if seen[i].Load() != writers*changes {
			t.Errorf("%s: the last that a worker saw is change %d of %d", item, seen[i].Load(), writers*changes)
		}
	}
	if len(q.order.normal) != 0 {
		t.Errorf("%d marks are left", len(q.order.normal))
	}
}

// A work queue wakes one worker for each item that comes. Those that stay behind need none, and none may be forgotten.
func TestEveryItemOfALimitedNamespaceIsProcessed(t *testing.T) {
	const workers, items = 8, 500
	q := New("test", workers/2, clock.RealClock{})
	var running, most, left atomic.Int32
	left.Store(items)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				if now := running.Add(1); now > most.Load() {
					most.Store(now)
				}
				runtime.Gosched()
				running.Add(-1)
				q.Done(item)
				if left.Add(-1) == 0 {
					q.ShutDown()
				}
			}
		})
	}
	for i := range items {
		q.Add(keyNamed(fmt.Sprint(i)))
	}
	all.Wait()
	if got := most.Load(); got > workers/2 {
		t.Errorf("%d items of a namespace were processed at once", got)
	}
}
