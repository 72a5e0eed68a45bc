// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// ownerID identifies an owner that controls a child. A user who may write a child may write any reference into it, and a UID is no
// secret. So a reference counts only if every part of it is right.
type ownerID struct {
	types.NamespacedName
	uid types.UID
}

func (o ownerID) String() string {
	return o.NamespacedName.String() + string(types.Separator) + string(o.uid)
}

func idOf(owner metav1.Object) ownerID { return ownerID{keyOf(owner), owner.GetUID()} }

func keyOf(owner metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: owner.GetNamespace(), Name: owner.GetName()}
}

// Indexers index objects by their owners. The informers of all kinds need them. They do not clash with the indexers of an Engine
// for another kind of owners.
func (e *Engine[O]) Indexers() cache.Indexers {
	return cache.Indexers{e.ownerIndex(): func(obj any) ([]string, error) {
		object, ok := obj.(metav1.Object)
		if !ok {
			return nil, fmt.Errorf("expected an object with metadata, got %T", obj)
		}
		if owner, ok := e.controllerOf(object); ok {
			return []string{owner.String()}, nil
		}
		return nil, nil
	}}
}

func (e *Engine[O]) ownerIndex() string { return "owner/" + e.OwnerKind.GroupKind().String() }

// OwnerOf returns the owner that controls the object, by name: a child of an owner that was deleted and created again
// concerns the new one as well, which is waiting for the name. It is false where there is none.
func (e *Engine[O]) OwnerOf(object metav1.Object) (types.NamespacedName, bool) {
	owner, ok := e.controllerOf(object)
	return owner.NamespacedName, ok
}

// controllerOf returns the owner that an object names as its controller, in its own namespace and of whatever version of
// the API; false where it names none.
func (e *Engine[O]) controllerOf(object metav1.Object) (ownerID, bool) {
	reference := render.ControllerOfKind(object, e.OwnerKind.GroupKind())
	if reference == nil {
		return ownerID{}, false
	}
	return ownerID{types.NamespacedName{Namespace: object.GetNamespace(), Name: reference.Name}, reference.UID}, true
}

// IsOwnedBy returns whether the owner, and no other of its name, controls the object.
func (e *Engine[O]) IsOwnedBy(object metav1.Object, owner O) bool {
	return render.IsControlledBy(object, owner, e.OwnerKind.GroupKind())
}

// isOwnedByPredecessor returns whether the object is controlled by an owner of the same name that was there before. That
// one is gone, or there would not be this one, and the object is garbage: the collector deletes it, but may overlook that
// one owner has taken the place of another.
func (e *Engine[O]) isOwnedByPredecessor(object metav1.Object, owner O) bool {
	controller, ok := e.controllerOf(object)
	return ok && controller.NamespacedName == keyOf(owner) && controller.uid != owner.GetUID()
}

// hasLostOwner returns whether another client has changed the owner of the live child. The labels, the field manager and the render
// hash of the child say that it was made for exactly this owner. No other owner of the name has the same. hasLostOwner is false if
// another controller controls the child.
func (e *Engine[O]) hasLostOwner(owner O, rendered *unstructured.Unstructured, live Object) bool {
	controller := metav1.GetControllerOfNoCopy(live)
	isControlled := controller != nil && controller.UID != owner.GetUID() && !e.isOwnedByPredecessor(live, owner)
	if isControlled || fields.Fingerprint(live) == "" {
		return false
	}
	return fields.HasLabels(live, rendered) && render.Hash(live) == render.Hash(rendered)
}

// isCopy returns whether the live child is a copy of a child of exactly this owner, as the restore of a backup leaves it, see
// fields.Comparer. The owner may have another UID than the original had. A child that is left of a deleted owner is no copy.
func (e *Engine[O]) isCopy(owner O, s Step) bool {
	if e.ConsentIsOnChild {
		return false
	}
	var isRecord func(string) bool
	if e.IsRecordOf != nil {
		// The cache has no records, and a child is read before it is adopted.
		isRecord = func(record string) bool { return !s.isLive || e.IsRecordOf(owner, record) }
	}
	return e.compare.IsCopyOf(s.rendered, s.live, isRecord)
}
