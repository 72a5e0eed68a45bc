// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Live are the children of an owner's namespace as the caches have them, but for one that has been read since.
type Live struct {
	kinds     []*Kind
	namespace string
	// fresh is nil where there is no such child.
	fresh Object
}

func (e *Engine[O]) live(owner O, fresh Object) Live {
	return Live{kinds: e.Kinds, namespace: owner.GetNamespace(), fresh: fresh}
}

// Child returns the live object of the kind and name, whomever it belongs to, and nil where there is none. It may be the
// cache's own and must not be changed.
func (l Live) Child(kind schema.GroupVersionKind, name string) (Object, error) {
	if l.fresh != nil && l.fresh.GetObjectKind().GroupVersionKind() == kind && l.fresh.GetName() == name {
		return l.fresh, nil
	}
	for _, known := range l.kinds {
		if known.GroupVersionKind == kind {
			return known.cached(l.namespace, name)
		}
	}
	return nil, fmt.Errorf("there are no children of kind %s", kind.Kind)
}
