// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package corruptobject lets a server go on when the store has an object that it cannot read. Lists, watches and caches
// leave the object out. A request for the object itself fails with an internal error and not with "not found": the garbage
// collector keeps what belongs to it. Administrators delete it with the option
// ignoreStoreReadErrorWithClusterBreakingPotential of Kubernetes.
package corruptobject

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// Object is one that cannot be read.
type Object struct {
	Resource schema.GroupResource
	// Namespace and Name are those of the key in the store. What the object says of itself is not known.
	Namespace, Name string
	// Reason is why it cannot be read.
	Reason string
}

// id is what one object is known by.
type id struct {
	resource        schema.GroupResource
	namespace, name string
}

// Tracker knows which objects could not be read when the server last tried. Its zero value knows of none.
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

// add takes note of an object, and logs it unless it is known already.
func (t *Tracker) add(of id, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, isKnown := t.corrupt[of]; !isKnown {
		klog.Background().Error(nil, "A stored object cannot be read: lists and watches leave it out",
			"resource", of.resource.String(), "object", klog.KRef(of.namespace, of.name), "reason", reason)
		corruptObjects.WithLabelValues(of.resource.Resource).Inc()
	}
	if t.corrupt == nil {
		t.corrupt = map[id]string{}
	}
	t.corrupt[of] = reason
}

// remove forgets an object that can be read, or is gone.
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

// namesIn returns the names of the objects of a resource in a namespace that cannot be read, with their namespaces. An empty
// namespace stands for all.
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
