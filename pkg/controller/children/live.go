// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"
	"reflect"
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

// Lookup returns the live object of the type and name, whomever it belongs to, and nil where there is none. It may be the
// cache's own and must not be changed.
func Lookup[T Object](live Live, name string) (T, error) {
	var none T
	if fresh, ok := live.fresh.(T); ok && fresh.GetName() == name {
		return fresh, nil
	}
	for _, kind := range live.kinds {
		if kind.goType != reflect.TypeFor[T]() {
			continue
		}
		cached, err := kind.cached(live.namespace, name)
		if err != nil || cached == nil {
			return none, err
		}
		return cached.(T), nil
	}
	return none, fmt.Errorf("there are no children of type %T", none)
}
