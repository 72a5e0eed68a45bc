// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxchildren

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

var claimResource = childkinds.PersistentVolumeClaim.GroupVersionResource()

// workloadResource returns the resource of the workload of the box.
func workloadResource(box *modelv1.ModelBox) schema.GroupVersionResource {
	kind, _ := childkinds.ByGroupVersionKind(modelboxrender.WorkloadKind(box))
	return kind.GroupVersionResource()
}

// isControlledBy returns whether the box controls the object.
func isControlledBy(object metav1.Object, box *modelv1.ModelBox) bool {
	return render.IsControlledBy(object, box, modelboxrender.Kind.GroupKind())
}

// isRetained returns whether the server has written the object for a box of this name, and the object has no controller. The box
// owns such a claim for the controller: a claim that is retained has no owner reference.
func isRetained(object metav1.Object, box *modelv1.ModelBox) bool {
	return metav1.GetControllerOfNoCopy(object) == nil && fields.Fingerprint(object) != "" && object.GetLabels()[modelv1.SelectorLabel] == box.Name
}

// wouldTakeOver returns whether the controller may take over an object that the box does not control. The object must have no
// controller, and either the box asks to adopt it, or it has lost its owner reference to the box.
func wouldTakeOver(box *modelv1.ModelBox, object metav1.Object) bool {
	asksToAdopt := box.Annotations[modelv1.AdoptAnnotation] == "true"
	return metav1.GetControllerOfNoCopy(object) == nil && (asksToAdopt || isRetained(object, box))
}
