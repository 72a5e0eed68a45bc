// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// OwnerID identifies an owner that controls a child. A user who may write a child may write any reference into it, and a UID is no
// secret. So a reference counts only if every part of it is right.
type OwnerID struct {
	types.NamespacedName
	uid types.UID
}

func (o OwnerID) String() string {
	return o.NamespacedName.String() + string(types.Separator) + string(o.uid)
}

// IDOf returns what identifies the owner.
func IDOf(owner metav1.Object) OwnerID { return OwnerID{KeyOf(owner), owner.GetUID()} }

// KeyOf returns the namespace and the name of an object, which are its key in queues and caches.
func KeyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// ControllerOf returns the owner that an object names as its controller, in its own namespace and of whatever version of
// the API; false where it names none.
func (p *Planner[O]) ControllerOf(object metav1.Object) (OwnerID, bool) {
	reference := render.ControllerOfKind(object, p.OwnerKind.GroupKind())
	if reference == nil {
		return OwnerID{}, false
	}
	return OwnerID{types.NamespacedName{Namespace: object.GetNamespace(), Name: reference.Name}, reference.UID}, true
}

// IsOwnedBy returns whether the owner, and no other of its name, controls the object.
func (p *Planner[O]) IsOwnedBy(object metav1.Object, owner O) bool {
	return render.IsControlledBy(object, owner, p.OwnerKind.GroupKind())
}

// isOwnedByPredecessor returns whether the object is controlled by an owner of the same name that was there before. That
// one is gone, or there would not be this one, and the object is garbage: the collector deletes it, but may overlook that
// one owner has taken the place of another.
func (p *Planner[O]) isOwnedByPredecessor(object metav1.Object, owner O) bool {
	controller, ok := p.ControllerOf(object)
	return ok && controller.NamespacedName == KeyOf(owner) && controller.uid != owner.GetUID()
}

// hasLostOwner returns whether another client has changed the owner of the live child. The labels, the field manager and the render
// hash of the child say that it was made for exactly this owner. No other owner of the name has the same. hasLostOwner is false if
// another controller controls the child.
func (p *Planner[O]) hasLostOwner(owner O, rendered *unstructured.Unstructured, live Object) bool {
	controller := metav1.GetControllerOfNoCopy(live)
	isControlled := controller != nil && controller.UID != owner.GetUID() && !p.isOwnedByPredecessor(live, owner)
	if isControlled || fields.Fingerprint(live) == "" {
		return false
	}
	return fields.HasLabels(live, rendered) && render.Hash(live) == render.Hash(rendered)
}

// isCopy returns whether the live child is a copy of a child of exactly this owner, as the restore of a backup leaves it, see
// fields.Comparer. The owner may have another UID than the original had. A child that is left of a deleted owner is no copy.
func (p *Planner[O]) isCopy(owner O, s Step) bool {
	if p.ConsentIsOnChild {
		return false
	}
	var isRecord func(string) bool
	if p.IsRecordOf != nil {
		// The cache has no records, and a child is read before it is adopted.
		isRecord = func(record string) bool { return !s.IsLive || p.IsRecordOf(owner, record) }
	}
	return p.Comparer.IsCopyOf(s.Rendered, s.Live, isRecord)
}
