// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package corruptobject lets a server serve from a store with objects that it cannot read. Lists, watches and caches leave these
// objects out. A request for such an object returns an internal error instead of "not found", so that the garbage collector does
// not delete its children. Administrators can delete it with the option ignoreStoreReadErrorWithClusterBreakingPotential of
// Kubernetes.
package corruptobject

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// Object is a stored object that cannot be read.
type Object struct {
	Resource schema.GroupResource
	// Namespace and Name are from the key in the store, because the metadata of the object cannot be read.
	Namespace, Name string
	// Reason is the error of reading the object.
	Reason string
}

// id identifies an object.
type id struct {
	resource        schema.GroupResource
	namespace, name string
}

// Tracker has the objects that could not be read when the server last tried. The zero value is an empty Tracker. It is safe for
// concurrent use.
type Tracker struct {
	mu      sync.RWMutex
	corrupt map[id]string
}

// Objects returns the objects that cannot be read, ordered by resource, namespace and name.
func (t *Tracker) Objects() []Object {
	t.mu.RLock()
	objects := make([]Object, 0, len(t.corrupt))
	for of, reason := range maps.All(t.corrupt) {
		objects = append(objects, Object{of.resource, of.namespace, of.name, reason})
	}
	t.mu.RUnlock()
	slices.SortFunc(objects, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Resource.String(), b.Resource.String()), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return objects
}

// add adds an object, and logs it if it is new.
func (t *Tracker) add(of id, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, isKnown := t.corrupt[of]; !isKnown {
		klog.Background().Error(nil, "Cannot read a stored object. Lists and watches leave it out",
			"resource", of.resource.String(), "object", klog.KRef(of.namespace, of.name), "reason", reason)
		corruptObjects.WithLabelValues(of.resource.Resource).Inc()
	}
	if t.corrupt == nil {
		t.corrupt = map[id]string{}
	}
	t.corrupt[of] = reason
}

// remove removes an object that can be read or was deleted.
func (t *Tracker) remove(of id) {
	if !t.has(of) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, isKnown := t.corrupt[of]; isKnown {
		delete(t.corrupt, of)
		corruptObjects.WithLabelValues(of.resource.Resource).Dec()
		klog.Background().Info("A stored object that could not be read was deleted or can be read again",
			"resource", of.resource.String(), "object", klog.KRef(of.namespace, of.name))
	}
}

// namesIn returns the corrupt objects of a resource in a namespace, as namespace/name. An empty namespace selects all namespaces.
func (t *Tracker) namesIn(resource schema.GroupResource, namespace string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var names []string
	for of := range t.corrupt {
		if of.resource == resource && (namespace == "" || of.namespace == namespace) {
			names = append(names, of.namespace+"/"+of.name)
		}
	}
	slices.Sort(names)
	return names
}

func (t *Tracker) has(of id) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, isKnown := t.corrupt[of]
	return isKnown
}
