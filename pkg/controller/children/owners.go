// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Indexers index objects by their owners. The informers of all kinds need them. They do not clash with the indexers of an Engine
// for another kind of owners.
func (e *Engine[O]) Indexers() cache.Indexers {
	return cache.Indexers{e.ownerIndex(): func(obj any) ([]string, error) {
		object, ok := obj.(metav1.Object)
		if !ok {
			return nil, fmt.Errorf("expected an object with metadata, got %T", obj)
		}
		if owner, ok := e.planner.ControllerOf(object); ok {
			return []string{owner.String()}, nil
		}
		return nil, nil
	}}
}

func (e *Engine[O]) ownerIndex() string { return "owner/" + e.OwnerKind.GroupKind().String() }

// OwnerOf returns the owner that controls the object, by name: a child of an owner that was deleted and created again
// concerns the new one as well, which is waiting for the name. It is false where there is none.
func (e *Engine[O]) OwnerOf(object metav1.Object) (types.NamespacedName, bool) {
	owner, ok := e.planner.ControllerOf(object)
	return owner.NamespacedName, ok
}

// IsOwnedBy returns whether the owner, and no other of its name, controls the object.
func (e *Engine[O]) IsOwnedBy(object metav1.Object, owner O) bool {
	return e.planner.IsOwnedBy(object, owner)
}
