// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// next returns the box that a worker would get, and is done with it.
func (q *boxQueue) next(t *testing.T) string {
	t.Helper()
	if q.Len() == 0 {
		t.Fatal("the queue is empty")
	}
	box, _ := q.Get()
	q.Done(box)
	return box.Name
}

// testQueue runs a test, in a time of its own, with a queue that another box waits in, in the background.
func testQueue(t *testing.T, test func(t *testing.T, q *boxQueue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := newBoxQueue(newDeadlineQueue(clock.RealClock{}))
		defer q.ShutDown()
		q.AddInBackground(keyNamed("other"))
		test(t, q)
	})
}

func TestAddIsUrgent(t *testing.T) {
	testQueue(t, func(t *testing.T, q *boxQueue) {
		q.AddInBackground(keyNamed("web"))
		q.Add(keyNamed("web"))
		if got := q.next(t); got != "web" {
			t.Errorf("%s goes first", got)
		}
	})
}

func TestABoxIsUrgentThatBecameSoWhileItWasWorkedOn(t *testing.T) {
	testQueue(t, func(t *testing.T, q *boxQueue) {
		q.Add(keyNamed("web"))
		box, _ := q.Get()
		q.AddInBackground(box)
		q.Add(box)
		q.AddInBackground(box)
		q.Done(box)
		if got := q.next(t); got != "web" {
			t.Errorf("%s goes first", got)
		}
	})
}

// A box is urgent when its delay is over, and not before.
func TestDelayedBoxesAreUrgentInTheEnd(t *testing.T) {
	for _, row := range []struct {
		name string
		add  func(q *boxQueue, box types.NamespacedName)
	}{
		{"after a while", func(q *boxQueue, box types.NamespacedName) { q.AddAfter(box, firstRetry) }},
		{"after a failure", func(q *boxQueue, box types.NamespacedName) { q.AddRateLimited(box) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			testQueue(t, func(t *testing.T, q *boxQueue) {
				row.add(q, keyNamed("web"))
				q.AddInBackground(keyNamed("web"))
				for _, want := range []string{"other", "web"} {
					if got := q.next(t); got != want {
						t.Fatalf("before the delay is over: got %s, want %s", got, want)
					}
				}
				q.AddInBackground(keyNamed("other"))
				time.Sleep(firstRetry)
				synctest.Wait()
				if got := q.next(t); got != "web" {
					t.Errorf("when the delay is over, %s goes first", got)
				}
			})
		})
	}
}

// However many boxes fail at the same time, each is tried again as soon as if it were the only one.
func TestABoxThatFailsDelaysNoOther(t *testing.T) {
	testQueue(t, func(t *testing.T, q *boxQueue) {
		const boxes = 1000
		for i := range boxes {
			q.AddRateLimited(keyNamed(fmt.Sprint(i)))
		}
		time.Sleep(firstRetry)
		synctest.Wait()
		if got := q.Len(); got != 1+boxes {
			t.Errorf("got %d boxes, want %d and the other one", got, boxes)
		}
	})
}

// TestNothingIsLostBetweenWorkers adds from many sides at once. What was true of a box when it was added has to be seen
// by a worker later, and no two workers may have the same box.
func TestNothingIsLostBetweenWorkers(t *testing.T) {
	const boxes, changes, workers, writers = 20, 500, 4, 4
	order := newDeadlineQueue(clock.RealClock{})
	q := newBoxQueue(order)

	var now, seen [boxes]atomic.Int64
	var isWorkedOn [boxes]atomic.Bool
	index := map[types.NamespacedName]int{}
	for i := range boxes {
		index[keyNamed(fmt.Sprint(i))] = i
	}

	var working, writing sync.WaitGroup
	for range workers {
		working.Go(func() {
			for {
				box, shutdown := q.Get()
				if shutdown {
					return
				}
				i := index[box]
				if isWorkedOn[i].Swap(true) {
					t.Errorf("two workers have %s", box)
				}
				seen[i].Store(now[i].Load())
				isWorkedOn[i].Store(false)
				q.Done(box)
			}
		})
	}
	for writer := range writers {
		writing.Go(func() {
			for change := range changes {
				for box, i := range index {
					now[i].Add(1)
					if (writer+change)%2 == 0 {
						q.AddInBackground(box)
					} else {
						q.Add(box)
					}
				}
			}
		})
	}
	writing.Wait()
	q.ShutDown() // which lets workers finish what is in it
	working.Wait()

	for box, i := range index {
		if seen[i].Load() != writers*changes {
			t.Errorf("%s: the last that a worker saw is change %d of %d", box, seen[i].Load(), writers*changes)
		}
	}
	if len(order.urgent) != 0 {
		t.Errorf("%d marks are left", len(order.urgent))
	}
}

// A work queue wakes one worker for each box that comes. Those that stay behind need none, and none may be forgotten.
func TestEveryBoxOfALimitedNamespaceIsWorkedOn(t *testing.T) {
	const workers, boxes = 8, 500
	order := newDeadlineQueue(clock.RealClock{})
	order.limit(workers / 2)
	q := newBoxQueue(order)
	var running, most, left atomic.Int32
	left.Store(boxes)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				box, shutdown := q.Get()
				if shutdown {
					return
				}
				if now := running.Add(1); now > most.Load() {
					most.Store(now)
				}
				runtime.Gosched()
				running.Add(-1)
				q.Done(box)
				if left.Add(-1) == 0 {
					q.ShutDown()
				}
			}
		})
	}
	for i := range boxes {
		q.Add(keyNamed(fmt.Sprint(i)))
	}
	all.Wait()
	if got := most.Load(); got > workers/2 {
		t.Errorf("%d boxes of a namespace were worked on at once", got)
	}
}
