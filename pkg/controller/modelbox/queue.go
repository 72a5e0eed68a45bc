// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// A box that failed is tried again after a delay that doubles from the first to the last of these.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Minute
)

// boxQueue holds the boxes to reconcile, each of them once. Add says that there is something to do about a box, and so
// do AddAfter and AddRateLimited when their time has come. AddInBackground says that there may be.
type boxQueue struct {
	workqueue.TypedRateLimitingInterface[types.NamespacedName]
	background workqueue.TypedInterface[types.NamespacedName]
	order      *deadlineQueue
}

func newBoxQueue(order *deadlineQueue) *boxQueue {
	background := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.NamespacedName]{
		Name:  Name,
		Queue: order,
	})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{
		Name:  Name,
		Queue: urgentQueue{TypedInterface: background, order: order},
	})
	return &boxQueue{
		TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{DelayingQueue: delaying}),
		background: background,
		order:      order,
	}
}

// Done says that a box that Get returned is not worked on any more, which may let another one of its namespace go next.
func (q *boxQueue) Done(box types.NamespacedName) {
	q.order.done(box)
	q.TypedRateLimitingInterface.Done(box)
}

// AddInBackground adds a box that others may go before for a while.
func (q *boxQueue) AddInBackground(box types.NamespacedName) { q.background.Add(box) }

// urgentQueue is a work queue whose Add is urgent.
type urgentQueue struct {
	workqueue.TypedInterface[types.NamespacedName]
	order *deadlineQueue
}

// Add adds a box that is due now.
func (q urgentQueue) Add(box types.NamespacedName) {
	q.order.markUrgent(box)
	q.TypedInterface.Add(box)
}
