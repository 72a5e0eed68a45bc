// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ManagedBy is the value of ManagedByLabel on every child.
const ManagedBy = "modelbox-apiserver"

// FieldManager is the name under which children and statuses are written.
const FieldManager = "modelbox-apiserver"

// EventReporter is the controller that events are reported by.
const EventReporter = "modelbox-apiserver"

// The recommended labels that every child and every pod of a box carries.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	nameLabel      = "app.kubernetes.io/name"
	instanceLabel  = "app.kubernetes.io/instance"
)

// Selector returns the labels that select the pods of the box.
func Selector(box *modelv1.ModelBox) map[string]string {
	return map[string]string{modelv1.SelectorLabel: box.Name}
}

// labels are those of every child and every pod: those of the box's spec, and the ones that no box can do without.
func labels(box *modelv1.ModelBox) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, box.Spec.Labels)
	maps.Copy(labels, map[string]string{
		modelv1.SelectorLabel: box.Name,
		nameLabel:             box.Spec.Name,
		instanceLabel:         box.Name,
		ManagedByLabel:        ManagedBy,
	})
	return labels
}

// ControllerOfKind returns the reference to an owner of the kind, of whatever version of the API, that an object names as
// its controller; nil where it names none. The owner is in the namespace of the object.
func ControllerOfKind(object metav1.Object, kind schema.GroupKind) *metav1.OwnerReference {
	reference := metav1.GetControllerOfNoCopy(object)
	if reference == nil || reference.Kind != kind.Kind || !isOfGroup(reference, kind.Group) {
		return nil
	}
	return reference
}

// ControllingBox is ControllerOfKind for boxes.
func ControllingBox(object metav1.Object) *metav1.OwnerReference {
	return ControllerOfKind(object, schema.GroupKind{Group: modelv1.GroupName, Kind: boxKind})
}

// IsOfGroup returns whether the owner is of the API group of boxes.
func IsOfGroup(owner metav1.OwnerReference) bool {
	return isOfGroup(&owner, modelv1.GroupName)
}

func isOfGroup(owner *metav1.OwnerReference, group string) bool {
	groupVersion, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && groupVersion.Group == group
}

const boxKind = "ModelBox"

// ownerReference makes the box the controller of a child. blockOwnerDeletion lets a foreground deletion of the
// box wait for the child.
func ownerReference(box *modelv1.ModelBox) *applymetav1.OwnerReferenceApplyConfiguration {
	return applymetav1.OwnerReference().
		WithAPIVersion(modelv1.SchemeGroupVersion.String()).
		WithKind(boxKind).
		WithName(box.Name).
		WithUID(box.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
