// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corruptobject

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// isolated is the storage for caches. Its lists and watches leave out objects that cannot be read.
type isolated struct {
	storage.Interface
	resource schema.GroupResource
	tracker  *Tracker
}

// Isolate wraps storage so that its lists and watches leave out objects that cannot be read. The options of the raw storage must
// come from WithIsolation.
func (t *Tracker) Isolate(raw storage.Interface, resource schema.GroupResource) storage.Interface {
	return isolated{raw, resource, t}
}

// GetList implements storage.Interface. It lists only the objects that can be read.
func (s isolated) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	if err := s.Interface.GetList(withTolerance(ctx), key, options, list); err != nil {
		return err
	}
	return dropPlaceholders(list)
}

func dropPlaceholders(list runtime.Object) error {
	pointer, err := meta.GetItemsPtr(list)
	if err != nil {
		return fmt.Errorf("reading the items of a list: %w", err)
	}
	items, err := conversion.EnforcePtr(pointer)
	if err != nil {
		return fmt.Errorf("reading the items of a list: %w", err)
	}
	kept := 0
	for i := range items.Len() {
		if object, isObject := items.Index(i).Addr().Interface().(runtime.Object); isObject && isPlaceholder(object) {
			continue
		}
		if kept != i {
			items.Index(kept).Set(items.Index(i))
		}
		kept++
	}
	for i := kept; i < items.Len(); i++ {
		items.Index(i).Set(reflect.Zero(items.Type().Elem()))
	}
	items.SetLen(kept)
	return nil
}

// Watch implements storage.Interface. It watches only the objects that can be read. It sends a deletion if an object can no longer
// be read.
func (s isolated) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	watcher, err := s.Interface.Watch(withTolerance(ctx), key, options)
	if err != nil {
		return nil, err
	}
	return watch.Filter(watcher, s.filter), nil
}

// filter returns the event for clients that do not see corrupt objects, and whether they get an event at all.
func (s isolated) filter(event watch.Event) (watch.Event, bool) {
	if event.Type != watch.Added && event.Type != watch.Modified && event.Type != watch.Deleted {
		return event, true
	}
	object := event.Object
	if timed, isTimed := object.(storage.WatchEventWithRecordTime); isTimed {
		object = timed.Unwrap()
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return event, true
	}
	of := id{s.resource, accessor.GetNamespace(), accessor.GetName()}
	if !isPlaceholder(object) {
		s.tracker.remove(of)
		return event, true
	}
	switch event.Type {
	case watch.Modified:
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		return watch.Event{Type: watch.Deleted, Object: object}, true
	case watch.Deleted:
		s.tracker.remove(of)
	}
	return watch.Event{}, false
}
