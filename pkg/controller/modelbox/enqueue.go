// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// enqueueOwners puts on the queue what owner makes of the objects that an informer reports; nothing where it returns
// false. What was there before the informer began to watch, and what it reports again at a resync, is in the
// background: most of it is as it should be.
func (c *Controller) enqueueOwners(owner func(metav1.Object) (types.NamespacedName, bool)) cache.ResourceEventHandler {
	enqueue := func(obj any, add func(types.NamespacedName)) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		object, ok := obj.(metav1.Object)
		if !ok {
			return
		}
		if box, ok := owner(object); ok {
			add(box)
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if isInInitialList {
				enqueue(obj, c.queue.AddInBackground)
				return
			}
			enqueue(obj, c.queue.Add)
		},
		UpdateFunc: func(old, obj any) {
			if isResync(old, obj) {
				enqueue(obj, c.queue.AddInBackground)
				return
			}
			enqueue(old, c.queue.Add) // it may have been another box's
			enqueue(obj, c.queue.Add)
		},
		DeleteFunc: func(obj any) { enqueue(obj, c.queue.Add) },
	}
}

// isResync returns whether an update is of nothing.
func isResync(old, obj any) bool {
	before, ok := old.(metav1.Object)
	if !ok {
		return false
	}
	now, ok := obj.(metav1.Object)
	return ok && before.GetResourceVersion() == now.GetResourceVersion()
}
