// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// owners are the objects of all kinds that can own others.
type owners struct {
	// exist has the UIDs of the objects that are stored or recorded, and replaced the UIDs of the objects that were replaced.
	exist, replaced sets.Set[types.UID]
	// corrupt has the stored objects that cannot be read. Their UIDs are unknown.
	corrupt sets.Set[corruptObject]
}

// corruptObject is the identity of an object that cannot be read.
type corruptObject struct {
	kind string
	name types.NamespacedName
}

func newOwners() *owners {
	return &owners{exist: sets.New[types.UID](), replaced: sets.New[types.UID](), corrupt: sets.New[corruptObject]()}
}

// mayExist returns whether the owner of an object in a namespace exists, or is an object that cannot be read.
func (o *owners) mayExist(namespace string, owner metav1.OwnerReference) bool {
	return o.exist.Has(owner.UID) || o.corrupt.Has(corruptObject{owner.Kind, types.NamespacedName{Namespace: namespace, Name: owner.Name}})
}

// dropAbsent removes the references to owners in this API group that do not exist.
func (o *owners) dropAbsent(from metav1.Object) {
	from.SetOwnerReferences(slices.DeleteFunc(from.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return render.IsOfGroup(owner) && !o.mayExist(from.GetNamespace(), owner)
	}))
}

// ownOwners returns the UIDs of the owners of an object that are in this API group.
func ownOwners(of metav1.Object) []types.UID {
	var owners []types.UID
	for _, owner := range of.GetOwnerReferences() {
		if render.IsOfGroup(owner) {
			owners = append(owners, owner.UID)
		}
	}
	return owners
}
