// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"

	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ManagedBy is the value of ManagedByLabel on every child, and the name under which children are written.
const ManagedBy = "modelbox-apiserver"

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

// ownerReference makes the box the controller of a child. blockOwnerDeletion lets a foreground deletion of the
// box wait for the child.
func ownerReference(box *modelv1.ModelBox) *applymetav1.OwnerReferenceApplyConfiguration {
	return applymetav1.OwnerReference().
		WithAPIVersion(modelv1.SchemeGroupVersion.String()).
		WithKind("ModelBox").
		WithName(box.Name).
		WithUID(box.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
