// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// Live are the children in an owner's namespace as the caches have them, except for one that has been read since. Until a replaced
// child is created again, the child that was deleted is in its place.
type Live struct {
	kinds     []*Kind
	namespace string
	// fresh is nil where there is no such child.
	fresh Object
	// predecessor returns the child that was deleted to be created again, nil if there is none.
	predecessor func(childName) Object
}

// Live returns the children of the owner's namespace as the caches have them.
func (e *Engine[O]) Live(owner O) Live { return e.live(owner, nil) }

func (e *Engine[O]) live(owner O, fresh Object) Live {
	return Live{kinds: e.Kinds, namespace: owner.GetNamespace(), fresh: fresh, predecessor: func(child childName) Object {
		return e.predecessors.find(apply.KeyOf(owner), child)
	}}
}

// Child returns the live object of the kind and name, whatever its owner, and nil if there is none. It may be the cache's own and
// must not be changed.
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
		return l.predecessor(childName{known.Name(), name}), nil
	}
	return nil, fmt.Errorf("there are no children of kind %s", kind.Kind)
}
