// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// newBox returns what is stored of a box that was recorded. It need not be valid by the rules of today: it is what its
// owner was once allowed to have.
func newBox(record *modelv1.ModelBox) (*model.ModelBox, error) {
	record = record.DeepCopy()
	modelv1.SetObjectDefaults_ModelBox(record)
	box := &model.ModelBox{}
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(record, box, nil); err != nil {
		return nil, fmt.Errorf("converting the record of box %s/%s: %w", record.Namespace, record.Name, err)
	}
	box.ResourceVersion, box.ManagedFields = "", nil
	// These two only mean something while a box is being deleted.
	box.Finalizers = slices.DeleteFunc(box.Finalizers, func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	})
	box.Status = model.ModelBoxStatus{Conditions: []metav1.Condition{{
		Type:               modelv1.ConditionReady,
		Status:             metav1.ConditionUnknown,
		Reason:             modelv1.ReasonPending,
		Message:            "the box was recovered from its workload, and the controller has not seen it since",
		LastTransitionTime: metav1.Now(),
	}}}
	return box, nil
}

// withRecorded lets a stored box say what is recorded of it. What a record leaves out, because it would be too large,
// stays as it is stored.
func withRecorded(stored, recorded *model.ModelBox) *model.ModelBox {
	stored.Generation, stored.Spec = recorded.Generation, recorded.Spec
	if lastApplied, isStored := stored.Annotations[corev1.LastAppliedConfigAnnotation]; recorded.Annotations != nil {
		stored.Annotations = maps.Clone(recorded.Annotations)
		if _, isRecorded := recorded.Annotations[corev1.LastAppliedConfigAnnotation]; isStored && !isRecorded {
			stored.Annotations[corev1.LastAppliedConfigAnnotation] = lastApplied
		}
	}
	if recorded.Labels != nil {
		stored.Labels = recorded.Labels
	}
	if recorded.OwnerReferences != nil {
		stored.OwnerReferences = recorded.OwnerReferences
	}
	if recorded.Finalizers != nil {
		stored.Finalizers = recorded.Finalizers
	}
	return stored
}

// isSameBox returns whether two versions of a box differ in nothing but what is not recorded.
func isSameBox(a, b *model.ModelBox) bool {
	return a.Generation == b.Generation &&
		apiequality.Semantic.DeepEqual(a.Labels, b.Labels) &&
		apiequality.Semantic.DeepEqual(a.Annotations, b.Annotations) &&
		apiequality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences) &&
		apiequality.Semantic.DeepEqual(a.Finalizers, b.Finalizers) &&
		apiequality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// hasOwnOwners returns whether objects of this group own the box.
func hasOwnOwners(box *model.ModelBox) bool {
	return slices.ContainsFunc(box.OwnerReferences, render.IsOfGroup)
}

// dropOwners takes the owners of this group away that do not exist.
func dropOwners(box *model.ModelBox, exists func(types.UID) bool) {
	box.OwnerReferences = slices.DeleteFunc(box.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return render.IsOfGroup(owner) && !exists(owner.UID)
	})
}
