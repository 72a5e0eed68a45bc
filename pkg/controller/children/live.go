// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Live are the children of an owner's namespace as the caches have them, but for one that has been read since. In place of
// one that is being created anew, it is the one before.
type Live struct {
	kinds     []*Kind
	namespace string
	// fresh is nil where there is no such child.
	fresh Object
	// predecessor returns the child that was deleted to be created anew, nil where there is none.
	predecessor func(childName) Object
}

// Live returns the children of the owner's namespace as the caches have them.
func (e *Engine[O]) Live(owner O) Live { return e.live(owner, nil) }

func (e *Engine[O]) live(owner O, fresh Object) Live {
	return Live{kinds: e.Kinds, namespace: owner.GetNamespace(), fresh: fresh, predecessor: func(child childName) Object {
		return e.predecessors.find(keyOf(owner), child)
	}}
}

// Child returns the live object of the kind and name, whomever it belongs to, and nil where there is none. It may be the
// cache's own and must not be changed.
func (l Live) Child(kind schema.GroupVersionKind, name string) (Object, error) {
	if l.fresh != nil && l.fresh.GetObjectKind().GroupVersionKind() == kind && l.fresh.GetName() == name {
		return l.fresh, nil
	}
	for _, known := range l.kinds {
		if known.GroupVersionKind != kind {
			continue
		}
		cached, err := known.cached(l.namespace, name)
		if err != nil || cached != nil {
			return cached, err
		}
		return l.predecessor(childName{known.name(), name}), nil
	}
	return nil, fmt.Errorf("there are no children of kind %s", kind.Kind)
}
