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
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// applyBoxes lets the fake server apply boxes. The one of client-go takes their plural for "modelboxs". Fields that others
// have in a box are not kept, but for its number of pods. A manager that no longer applies the number resets it, unless another
// manager has it as well.
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
		manager, others := patch.PatchOptions.FieldManager, []metav1.ManagedFieldsEntry(nil)
		switch {
		case isThere && manager == apply.HandoverManager:
			replicas := box.Spec.Replicas
			box, others = before.DeepCopy(), before.ManagedFields
			box.Spec.Replicas = replicas
		case isThere && box.Spec.Replicas == nil:
			if box.Spec.Replicas, others, err = keptReplicas(before, manager); err != nil {
				return true, nil, err
			}
		}
		modelv1.SetObjectDefaults_ModelBox(box)
		owned, err := comparer.OwnedFields(applied)
		if err != nil {
			return true, nil, err
		}
		entry := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "model.github.com/v1", FieldsType: "FieldsV1"}
		if entry.FieldsV1, err = fields.Encode(owned); err != nil {
			return true, nil, err
		}
		version++
		box.ManagedFields, box.ResourceVersion = append(others, entry), strconv.Itoa(version)
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

// keptReplicas returns the number of pods that a box has when the manager applies none, nil for the default of the API, and the
// managed fields of the other managers that have the number.
func keptReplicas(before *modelv1.ModelBox, manager string) (*int32, []metav1.ManagedFieldsEntry, error) {
	isReset, others := false, []metav1.ManagedFieldsEntry(nil)
	for _, entry := range before.ManagedFields {
		managed, err := fields.Decode(&entry)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case !managed.Has(fieldpath.MakePathOrDie("spec", "replicas")):
		case entry.Manager == manager:
			isReset = true
		default:
			others = append(others, entry)
		}
	}
	if isReset && len(others) == 0 {
		return nil, nil, nil
	}
	return before.Spec.Replicas, others, nil
}
