// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

// lowPriorityDelay is how long an item of low priority lets others go first. An object that is as it should be takes a
// millisecond, so a resync of ten thousand is over before they are due, and any change meanwhile overtakes all of it.
const lowPriorityDelay = 30 * time.Second

// priorityQueue is the order in which items leave a work queue: by the time that each is due. An item of normal priority
// is due when it comes, one of low priority after lowPriorityDelay. So normal priority goes first, and yet nothing
// starves: once an item is due, it comes before all that were added with normal priority later. Items of a namespace of
// which as many have left as may be processed at once stay behind, whatever their time, until one of those is done: what
// makes the objects of one namespace slow, such as a webhook that hangs, is not to hold up all others.
//
// The work queue calls it under its own lock. Only markNormal and done may be called by anyone.
type priorityQueue struct {
	clock clock.PassiveClock
	// maxPerNamespace is how many items of a namespace may be processed at once.
	maxPerNamespace int

	mu      sync.Mutex
	entries map[types.NamespacedName]*waitingItem
	// namespaces are the namespaces of items that wait or are processed. ready has the namespaces with an item that may leave.
	namespaces map[string]*namespaceQueue
	ready      namespaceHeap
	// arrivals numbers the entries, so that those due at the same time leave as they came.
	arrivals uint64
	// normal are the items of which the next Push or Touch is of normal priority: a work queue passes on an item and no
	// more.
	normal sets.Set[types.NamespacedName]
}

// waitingItem is an item that waits.
type waitingItem struct {
	item    types.NamespacedName
	due     time.Time
	arrival uint64
	// index is the place in the heap.
	index int
}

// isBefore returns whether the item leaves before the other.
func (w *waitingItem) isBefore(other *waitingItem) bool {
	if order := w.due.Compare(other.due); order != 0 {
		return order < 0
	}
	return w.arrival < other.arrival
}

// namespaceQueue is a namespace of which items wait, or are processed.
type namespaceQueue struct {
	name       string
	waiting    itemHeap
	processing int
	// index is the place in the heap, negative when it is not there.
	index int
}

func newPriorityQueue(maxPerNamespace int, clock clock.PassiveClock) *priorityQueue {
	return &priorityQueue{
		clock:           clock,
		maxPerNamespace: max(1, maxPerNamespace),
		entries:         map[types.NamespacedName]*waitingItem{},
		namespaces:      map[string]*namespaceQueue{},
		normal:          sets.New[types.NamespacedName](),
	}
}

// markNormal makes the next Push or Touch of the item one of normal priority.
func (q *priorityQueue) markNormal(item types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.normal.Insert(item)
}

// done records that an item that has left is no longer processed.
func (q *priorityQueue) done(item types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if namespace := q.namespaces[item.Namespace]; namespace != nil {
		namespace.processing--
		q.fix(namespace)
	}
}

// nextDue returns when an item is due that comes now.
func (q *priorityQueue) nextDue(item types.NamespacedName) time.Time {
	if q.normal.Has(item) {
		q.normal.Delete(item)
		return q.clock.Now()
	}
	return q.clock.Now().Add(lowPriorityDelay)
}

// Push adds an item that is not waiting.
func (q *priorityQueue) Push(item types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrivals++
	entry := &waitingItem{item: item, due: q.nextDue(item), arrival: q.arrivals}
	q.entries[item] = entry
	namespace := q.namespaces[item.Namespace]
	if namespace == nil {
		namespace = &namespaceQueue{name: item.Namespace, index: -1}
		q.namespaces[item.Namespace] = namespace
	}
	heap.Push(&namespace.waiting, entry)
	q.fix(namespace)
}

// Touch makes an item that is waiting due earlier, if it is of normal priority now.
func (q *priorityQueue) Touch(item types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	due := q.nextDue(item)
	if entry, ok := q.entries[item]; ok && due.Before(entry.due) {
		entry.due = due
		namespace := q.namespaces[item.Namespace]
		heap.Fix(&namespace.waiting, entry.index)
		q.fix(namespace)
	}
}

// Len returns how many items are waiting, 0 where none of them may leave.
func (q *priorityQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ready) == 0 {
		return 0
	}
	return len(q.entries)
}

// Pop returns the item that is due first of those that may leave. It may not be called when Len is 0.
func (q *priorityQueue) Pop() types.NamespacedName {
	q.mu.Lock()
	defer q.mu.Unlock()
	namespace := q.ready[0]
	entry := heap.Pop(&namespace.waiting).(*waitingItem)
	delete(q.entries, entry.item)
	namespace.processing++
	q.fix(namespace)
	return entry.item
}

// fix puts a namespace that has changed into its place.
func (q *priorityQueue) fix(namespace *namespaceQueue) {
	mayLeave := len(namespace.waiting) > 0 && namespace.processing < q.maxPerNamespace
	switch {
	case mayLeave && namespace.index < 0:
		heap.Push(&q.ready, namespace)
	case mayLeave:
		heap.Fix(&q.ready, namespace.index)
	case namespace.index >= 0:
		heap.Remove(&q.ready, namespace.index)
	}
	if len(namespace.waiting) == 0 && namespace.processing == 0 {
		delete(q.namespaces, namespace.name)
	}
}

// itemHeap has the item first that is due first.
type itemHeap []*waitingItem

func (h itemHeap) Len() int { return len(h) }

func (h itemHeap) Less(i, j int) bool { return h[i].isBefore(h[j]) }

func (h itemHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *itemHeap) Push(entry any) {
	added := entry.(*waitingItem)
	added.index = len(*h)
	*h = append(*h, added)
}

func (h *itemHeap) Pop() any {
	last := len(*h) - 1
	removed := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return removed
}

// namespaceHeap has the namespace first of which an item is due first.
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
