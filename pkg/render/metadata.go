// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ManagedByLabel is the recommended label of all children, and ManagedBy its value.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	ManagedBy      = "modelbox-apiserver"
)

// FieldManager is the field manager of children and statuses.
const FieldManager = "modelbox-apiserver"

// EventReporter is the reporting controller of events.
const EventReporter = "modelbox-apiserver"

// OwnerReference returns a reference that makes an object of the kind the controller of a child. With blockOwnerDeletion, a
// foreground deletion of the owner waits for the child.
func OwnerReference(owner metav1.Object, kind schema.GroupVersionKind) *applymetav1.OwnerReferenceApplyConfiguration {
	return applymetav1.OwnerReference().
		WithAPIVersion(kind.GroupVersion().String()).
		WithKind(kind.Kind).
		WithName(owner.GetName()).
		WithUID(owner.GetUID()).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// ControllerOfKind returns the reference to the controller of an object if it has the kind, in any version of the API, and nil
// otherwise. The owner is in the namespace of the object.
func ControllerOfKind(object metav1.Object, kind schema.GroupKind) *metav1.OwnerReference {
	reference := metav1.GetControllerOfNoCopy(object)
	if reference == nil || reference.Kind != kind.Kind || !isOfGroup(reference, kind.Group) {
		return nil
	}
	return reference
}

// IsControlledBy returns whether the owner, a stored object of the kind, controls the object: whether the object is in its
// namespace, and has a controller reference with its group, kind, name and UID. metav1.IsControlledBy compares only the UID. This
// is not enough, because users with permission to write an object can write any reference into it, and UIDs are not secret.
func IsControlledBy(object, owner metav1.Object, kind schema.GroupKind) bool {
	controller := ControllerOfKind(object, kind)
	return controller != nil && object.GetNamespace() == owner.GetNamespace() && controller.Name == owner.GetName() &&
		owner.GetUID() != "" && controller.UID == owner.GetUID()
}

// IsOfGroup returns whether the owner is of the API group of this server.
func IsOfGroup(owner metav1.OwnerReference) bool {
	return isOfGroup(&owner, modelv1.GroupName)
}

func isOfGroup(owner *metav1.OwnerReference, group string) bool {
	groupVersion, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && groupVersion.Group == group
}
