// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// The recommended labels of all children and pods of a box, besides render.ManagedByLabel.
const (
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"
)

// Kind is the kind of boxes in owner references.
var Kind = modelv1.SchemeGroupVersion.WithKind("ModelBox")

// ControllingBox returns the reference to the box that controls an object, nil if there is none.
func ControllingBox(object metav1.Object) *metav1.OwnerReference {
	return render.ControllerOfKind(object, Kind.GroupKind())
}

// Selector returns the labels that select the pods of the box.
func Selector(box *modelv1.ModelBox) map[string]string {
	return map[string]string{modelv1.SelectorLabel: box.Name}
}

// labels returns the labels of all children and pods: the labels in the spec of the box, and the recommended labels.
func labels(box *modelv1.ModelBox) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, box.Spec.Labels)
	maps.Copy(labels, map[string]string{
		modelv1.SelectorLabel: box.Name,
		nameLabel:             box.Spec.Name,
		instanceLabel:         box.Name,
		render.ManagedByLabel: render.ManagedBy,
	})
	return labels
}
