// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"container/heap"
	"math"
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
// due, it comes before all that became urgent later. Boxes of a namespace of which as many have left as may be worked on
// at once stay behind, whatever their time, until one of those is done: what makes the boxes of one namespace slow, such
// as a webhook that hangs, is not to hold up all others.
//
// The work queue calls it under its own lock. Only markUrgent, done and limit may be called by anyone.
type deadlineQueue struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	entries map[types.NamespacedName]*deadline
	// namespaces are those of which boxes wait or are worked on; next has those of which one may leave.
	namespaces map[string]*namespaceQueue
	next       namespaceHeap
	// maxPerNamespace is how many boxes of a namespace may be worked on at once.
	maxPerNamespace int
	// arrivals numbers the entries, so that those due at the same time leave as they came.
	arrivals uint64
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

// isBefore returns whether the box leaves before the other.
func (d *deadline) isBefore(other *deadline) bool {
	if order := d.due.Compare(other.due); order != 0 {
		return order < 0
	}
	return d.arrival < other.arrival
}

// namespaceQueue is a namespace of which boxes wait, or are worked on.
type namespaceQueue struct {
	name    string
	waiting deadlineHeap
	running int
	// index is the place in the heap, negative when it is not there.
	index int
}

// newDeadlineQueue returns a queue without a limit for namespaces.
func newDeadlineQueue(clock clock.PassiveClock) *deadlineQueue {
	return &deadlineQueue{
		clock:           clock,
		entries:         map[types.NamespacedName]*deadline{},
		namespaces:      map[string]*namespaceQueue{},
		maxPerNamespace: math.MaxInt,
		urgent:          sets.New[types.NamespacedName](),
	}
}

// limit sets how many boxes of a namespace may be worked on at once, at least 1. It has to be called before any is.
func (q *deadlineQueue) limit(maxPerNamespace int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.maxPerNamespace = max(1, maxPerNamespace)
}

// markUrgent makes the next Push or Touch of the box an urgent one.
func (q *deadlineQueue) markUrgent(box types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.urgent.Insert(box)
}

// done says that nobody works any more on a box that has left.
func (q *deadlineQueue) done(box types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if namespace := q.namespaces[box.Namespace]; namespace != nil {
		namespace.running--
		q.arrange(namespace)
	}
}

// nextDue returns when a box is due that comes now.
func (q *deadlineQueue) nextDue(box types.NamespacedName) time.Time {
	if q.urgent.Has(box) {
		q.urgent.Delete(box)
		return q.clock.Now()
	}
	return q.clock.Now().Add(backgroundPatience)
}

// Push adds a box that is not waiting.
func (q *deadlineQueue) Push(box types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrivals++
	entry := &deadline{box: box, due: q.nextDue(box), arrival: q.arrivals}
	q.entries[box] = entry
	namespace := q.namespaces[box.Namespace]
	if namespace == nil {
		namespace = &namespaceQueue{name: box.Namespace, index: -1}
		q.namespaces[box.Namespace] = namespace
	}
	heap.Push(&namespace.waiting, entry)
	q.arrange(namespace)
}

// Touch makes a box that is waiting due earlier, if it has become urgent.
func (q *deadlineQueue) Touch(box types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	due := q.nextDue(box)
	if entry, ok := q.entries[box]; ok && due.Before(entry.due) {
		entry.due = due
		namespace := q.namespaces[box.Namespace]
		heap.Fix(&namespace.waiting, entry.index)
		q.arrange(namespace)
	}
}

// Len returns how many boxes are waiting, 0 where none of them may leave.
func (q *deadlineQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.next) == 0 {
		return 0
	}
	return len(q.entries)
}

// Pop returns the box that is due first of those that may leave. It may not be called when Len is 0.
func (q *deadlineQueue) Pop() types.NamespacedName {
	q.mu.Lock()
	defer q.mu.Unlock()
	namespace := q.next[0]
	entry := heap.Pop(&namespace.waiting).(*deadline)
	delete(q.entries, entry.box)
	namespace.running++
	q.arrange(namespace)
	return entry.box
}

// arrange puts a namespace that has changed into its place.
func (q *deadlineQueue) arrange(namespace *namespaceQueue) {
	mayLeave := len(namespace.waiting) > 0 && namespace.running < q.maxPerNamespace
	switch {
	case mayLeave && namespace.index < 0:
		heap.Push(&q.next, namespace)
	case mayLeave:
		heap.Fix(&q.next, namespace.index)
	case namespace.index >= 0:
		heap.Remove(&q.next, namespace.index)
	}
	if len(namespace.waiting) == 0 && namespace.running == 0 {
		delete(q.namespaces, namespace.name)
	}
}

// deadlineHeap implements heap.Interface.
type deadlineHeap []*deadline

func (h deadlineHeap) Len() int { return len(h) }

func (h deadlineHeap) Less(i, j int) bool { return h[i].isBefore(h[j]) }

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

// namespaceHeap has the namespace first of which a box is due first.
type namespaceHeap []*namespaceQueue

func (h namespaceHeap) Len() int { return len(h) }

func (h namespaceHeap) Less(i, j int) bool { return h[i].waiting[0].isBefore(h[j].waiting[0]) }

func (h namespaceHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *namespaceHeap) Push(namespace any) {
	added := namespace.(*namespaceQueue)
	added.index = len(*h)
	*h = append(*h, added)
}

func (h *namespaceHeap) Pop() any {
	last := len(*h) - 1
	removed := (*h)[last]
	(*h)[last], removed.index = nil, -1
	*h = (*h)[:last]
	return removed
}
