// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Recommended labels that every child and every pod of a box carries, beside render.ManagedByLabel.
const (
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"
)

// Kind is that of boxes, as owner references have it.
var Kind = modelv1.SchemeGroupVersion.WithKind("ModelBox")

// ControllingBox returns the reference to the box that an object names as its controller, nil where it names none.
func ControllingBox(object metav1.Object) *metav1.OwnerReference {
	return render.ControllerOfKind(object, Kind.GroupKind())
}

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
		render.ManagedByLabel: render.ManagedBy,
	})
	return labels
}
