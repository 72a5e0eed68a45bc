// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"strconv"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// applyBoxes lets the fake server apply boxes. The one of client-go takes their plural for "modelboxs". Fields that others
// have in a box are not kept, but for its number of pods.
func (f *testController) applyBoxes() {
	comparer := fields.NewComparer(fields.NewTypeConverter())
	version := 0
	f.models.PrependReactor("patch", "modelboxes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch := action.(clienttesting.PatchActionImpl)
		if patch.GetPatchType() != types.ApplyPatchType {
			return false, nil, nil
		}
		applied, box := &unstructured.Unstructured{}, &modelv1.ModelBox{}
		if err := applied.UnmarshalJSON(patch.GetPatch()); err != nil {
			return true, nil, err
		}
		applied.SetUID("")
		applied.SetResourceVersion("")
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(applied.Object, box); err != nil {
			return true, nil, err
		}
		resource := modelv1.SchemeGroupVersion.WithResource("modelboxes")
		found, err := f.models.Tracker().Get(resource, patch.GetNamespace(), patch.GetName())
		if err != nil && !apierrors.IsNotFound(err) {
			return true, nil, err
		}
		before, isThere := found.(*modelv1.ModelBox)
		if isThere && box.Spec.Replicas == nil {
			box.Spec.Replicas = before.Spec.Replicas
		}
		modelv1.SetObjectDefaults_ModelBox(box)
		owned, err := comparer.OwnedFields(applied)
		if err != nil {
			return true, nil, err
		}
		entry := metav1.ManagedFieldsEntry{Manager: render.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "model.github.com/v1", FieldsType: "FieldsV1"}
		if entry.FieldsV1, err = fields.Encode(owned); err != nil {
			return true, nil, err
		}
		version++
		box.ManagedFields, box.ResourceVersion = []metav1.ManagedFieldsEntry{entry}, strconv.Itoa(version)
		if !isThere {
			box.UID, box.Generation = types.UID(fmt.Sprintf("%s-%d", box.Name, version)), 1
			return true, box, f.models.Tracker().Create(resource, box, box.Namespace)
		}
		box.UID, box.Generation, box.Status = before.UID, before.Generation, before.Status
		if !apiequality.Semantic.DeepEqual(before.Spec, box.Spec) {
			box.Generation++
		}
		return true, box, f.models.Tracker().Update(resource, box, box.Namespace)
	})
}
