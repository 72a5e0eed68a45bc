// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

// backgroundPatience is how long a box that nobody waits for lets others go first. A box that is as it should be takes
// a millisecond, so a resync of ten thousand is over before they are due, and any change meanwhile overtakes all of it.
const backgroundPatience = 30 * time.Second

// deadlineQueue is the order in which boxes leave a work queue: by the time that each is due. An urgent box is due
// when it comes, any other after backgroundPatience. So urgent boxes go first, and yet none waits for ever: once it is
// due, it comes before all that became urgent later.
//
// The work queue calls it under its own lock. Only markUrgent may be called by anyone.
type deadlineQueue struct {
	clock   clock.PassiveClock
	waiting deadlineHeap
	entries map[types.NamespacedName]*deadline
	// arrivals numbers the entries, so that those due at the same time leave as they came.
	arrivals uint64

	mu sync.Mutex
	// urgent are the boxes that the next Push or Touch is urgent for: a work queue passes on a key and no more.
	urgent sets.Set[types.NamespacedName]
}

type deadline struct {
	box     types.NamespacedName
	due     time.Time
	arrival uint64
	// index is the place in the heap.
	index int
}

func newDeadlineQueue(clock clock.PassiveClock) *deadlineQueue {
	return &deadlineQueue{
		clock:   clock,
		entries: map[types.NamespacedName]*deadline{},
		urgent:  sets.New[types.NamespacedName](),
	}
}

// markUrgent has to come before the box is added to the work queue. The mark stays until the box is in the queue: one
// that is being worked on gets there when that is done. Somebody else's Push or Touch may take the mark in between,
// which makes the box urgent only sooner.
func (q *deadlineQueue) markUrgent(box types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.urgent.Insert(box)
}

// nextDue returns when a box is due that is added now, and takes its mark.
func (q *deadlineQueue) nextDue(box types.NamespacedName) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.urgent.Has(box) {
		q.urgent.Delete(box)
		return q.clock.Now()
	}
	return q.clock.Now().Add(backgroundPatience)
}

// Push adds a box that is not in the queue.
func (q *deadlineQueue) Push(box types.NamespacedName) {
	q.arrivals++
	entry := &deadline{box: box, due: q.nextDue(box), arrival: q.arrivals}
	q.entries[box] = entry
	heap.Push(&q.waiting, entry)
}

// Touch is told that a box in the queue was added again. That can only make it due sooner.
func (q *deadlineQueue) Touch(box types.NamespacedName) {
	due := q.nextDue(box)
	if entry, ok := q.entries[box]; ok && due.Before(entry.due) {
		entry.due = due
		heap.Fix(&q.waiting, entry.index)
	}
}

// Len returns how many boxes are in the queue.
func (q *deadlineQueue) Len() int { return len(q.waiting) }

// Pop removes and returns the box that is due first. The queue may not be empty.
func (q *deadlineQueue) Pop() types.NamespacedName {
	entry := heap.Pop(&q.waiting).(*deadline)
	delete(q.entries, entry.box)
	return entry.box
}

// deadlineHeap implements heap.Interface.
type deadlineHeap []*deadline

func (h deadlineHeap) Len() int { return len(h) }

func (h deadlineHeap) Less(i, j int) bool {
	if order := h[i].due.Compare(h[j].due); order != 0 {
		return order < 0
	}
	return h[i].arrival < h[j].arrival
}

func (h deadlineHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *deadlineHeap) Push(entry any) {
	added := entry.(*deadline)
	added.index = len(*h)
	*h = append(*h, added)
}

func (h *deadlineHeap) Pop() any {
	last := len(*h) - 1
	removed := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return removed
}
