// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// byOwner indexes children by the boxes that control them.
const byOwner = "owner"

// owner is a box as the one that controls a child. Anybody who may write a child may write any reference into it, and a
// UID is no secret: a reference is believed only if it is right in every part.
type owner struct {
	types.NamespacedName
	uid types.UID
}

func (o owner) String() string {
	return o.NamespacedName.String() + string(types.Separator) + string(o.uid)
}

func ownerOf(box *modelv1.ModelBox) owner { return owner{keyOf(box), box.UID} }

// controllerOf returns the box that an object names as its controller, in its own namespace and of whatever version of
// the API; false where it names none.
func controllerOf(object metav1.Object) (owner, bool) {
	reference := render.ControllingBox(object)
	if reference == nil {
		return owner{}, false
	}
	return owner{types.NamespacedName{Namespace: object.GetNamespace(), Name: reference.Name}, reference.UID}, true
}

func ownerIndex(obj any) ([]string, error) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("expected an object with metadata, got %T", obj)
	}
	if owner, ok := controllerOf(object); ok {
		return []string{owner.String()}, nil
	}
	return nil, nil
}

// ownerKey returns the box that controls the child, by name: a child of a box that was deleted and created again
// concerns the new one as well, which is waiting for the name.
func ownerKey(object metav1.Object) (types.NamespacedName, bool) {
	owner, ok := controllerOf(object)
	return owner.NamespacedName, ok
}

// isPredecessors returns whether the object is controlled by a box of the same name that was there before. That box
// is gone, or there would not be this one, and the object is garbage: the collector deletes it, but may overlook that
// one box has taken the place of another.
func isPredecessors(object metav1.Object, box *modelv1.ModelBox) bool {
	owner, ok := controllerOf(object)
	return ok && owner.NamespacedName == keyOf(box) && owner.uid != box.UID
}

func isOwnedBy(object metav1.Object, box *modelv1.ModelBox) bool {
	owner, ok := controllerOf(object)
	return ok && owner == ownerOf(box)
}
