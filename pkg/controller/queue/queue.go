// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package queue has the work queue of the controllers, in which changes go before resyncs and no namespace holds all
// workers.
package queue

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// An item that failed is tried again after a delay that doubles from the first to the last of these.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Minute
)

// Queue holds the names of objects to reconcile, each of them once. Add says that there is something to do about one, and
// so do AddAfter and AddRateLimited when their time has come. AddWithLowPriority says that there may be.
type Queue struct {
	workqueue.TypedRateLimitingInterface[types.NamespacedName]
	lowPriority workqueue.TypedInterface[types.NamespacedName]
	order       *priorityQueue
}

// New returns a queue whose metrics have the name. Of a namespace, no more than maxPerNamespace items are processed at
// once, and at least one.
func New(name string, maxPerNamespace int, clock clock.PassiveClock) *Queue {
	order := newPriorityQueue(maxPerNamespace, clock)
	lowPriority := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.NamespacedName]{
		Name:  name,
		Queue: order,
	})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{
		Name:  name,
		Queue: normalPriority{TypedInterface: lowPriority, order: order},
	})
	return &Queue{
		TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{DelayingQueue: delaying}),
		lowPriority: lowPriority,
		order:       order,
	}
}

// Done records that an item that Get returned is no longer processed. Another item of its namespace may then leave.
func (q *Queue) Done(item types.NamespacedName) {
	q.order.done(item)
	q.TypedRateLimitingInterface.Done(item)
}

// AddWithLowPriority adds an item that other items may overtake for a while.
func (q *Queue) AddWithLowPriority(item types.NamespacedName) { q.lowPriority.Add(item) }

// normalPriority is a work queue whose Add is of normal priority.
type normalPriority struct {
	workqueue.TypedInterface[types.NamespacedName]
	order *priorityQueue
}

// Add adds an item that is due now.
func (q normalPriority) Add(item types.NamespacedName) {
	q.order.markNormal(item)
	q.TypedInterface.Add(item)
}
