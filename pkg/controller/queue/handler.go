// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Handler returns a handler that adds an item for each object that an informer reports. itemOf returns the item of an object, and
// false for none. Objects that existed before the informer began to watch, and objects of a resync, have low priority, because most
// of them need no change.
func (q *Queue) Handler(itemOf func(metav1.Object) (types.NamespacedName, bool)) cache.ResourceEventHandler {
	return q.handler(func(object metav1.Object, add func(types.NamespacedName)) {
		if item, ok := itemOf(object); ok {
			add(item)
		}
	})
}

// HandlerOfAll is Handler of objects that concern several items each.
func (q *Queue) HandlerOfAll(itemsOf func(metav1.Object) []types.NamespacedName) cache.ResourceEventHandler {
	return q.handler(func(object metav1.Object, add func(types.NamespacedName)) {
		for _, item := range itemsOf(object) {
			add(item)
		}
	})
}

func (q *Queue) handler(addItems func(object metav1.Object, add func(types.NamespacedName))) cache.ResourceEventHandler {
	enqueue := func(obj any, add func(types.NamespacedName)) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		object, ok := obj.(metav1.Object)
		if !ok {
			return
		}
		addItems(object, add)
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if isInInitialList {
				enqueue(obj, q.AddWithLowPriority)
				return
			}
			enqueue(obj, q.Add)
		},
		UpdateFunc: func(old, obj any) {
			if isResync(old, obj) {
				enqueue(obj, q.AddWithLowPriority)
				return
			}
			enqueue(old, q.Add) // it may have been of another item
			enqueue(obj, q.Add)
		},
		DeleteFunc: func(obj any) { enqueue(obj, q.Add) },
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
