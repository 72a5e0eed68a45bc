// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelbox plans the children of boxes. The controller carries the plans out, and the subresource diff shows them.
package modelbox

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Owners returns what planning needs to know about boxes.
func Owners() apply.Owners[*modelv1.ModelBox] {
	return apply.Owners[*modelv1.ModelBox]{
		OwnerKind:  modelboxrender.Kind,
		Noun:       "box",
		Ignored:    modelboxrender.IgnoredFields,
		IsRecordOf: modelboxrender.IsRecordOf,
	}
}

// Kind returns what planning needs to know about a kind of the children of boxes.
func Kind(kind childkinds.Kind) apply.Kind {
	planned := apply.Kind{
		GroupVersionKind: kind.GroupVersionKind,
		Resource:         kind.GroupResource(),
		Immutable: func(rendered *unstructured.Unstructured, live apply.Object) string {
			return modelboxrender.Immutable(rendered, live)
		},
	}
	switch kind.GroupVersionKind {
	case childkinds.Deployment.GroupVersionKind, childkinds.StatefulSet.GroupVersionKind:
		planned.HandOver = handOverReplicas
	case childkinds.Job.GroupVersionKind:
		planned.IsChild = isWorkloadJob
	case childkinds.PersistentVolumeClaim.GroupVersionKind:
		planned.Retention = &apply.Retention{ClaimedFor: ClaimedFor, Mismatch: claimMismatch}
	}
	return planned
}

// isWorkloadJob returns whether a Job is the workload of its box, and not a Job of spec.before or spec.after, which the rollout of the box
// creates and deletes.
func isWorkloadJob(live apply.Object) bool {
	_, hasType := live.GetLabels()[modelv1.JobTypeLabel]
	return !hasType
}

// handOverReplicas returns the number of pods of the live workload when the rendered one gives it up.
func handOverReplicas(rendered *unstructured.Unstructured, live apply.Object) (*unstructured.Unstructured, error) {
	var replicas *int32
	switch workload := live.(type) {
	case *appsv1.Deployment:
		replicas = workload.Spec.Replicas
	case *appsv1.StatefulSet:
		replicas = workload.Spec.Replicas
	}
	return render.HandOverReplicas(rendered, live, ptr.Deref(replicas, 1))
}

// ClaimedFor returns the box that a claim was made for, by the controller or by the StatefulSet of the box; false where
// for none.
func ClaimedFor(claim metav1.Object) (types.NamespacedName, bool) {
	name, ok := claim.GetLabels()[modelv1.SelectorLabel]
	return types.NamespacedName{Namespace: claim.GetNamespace(), Name: name}, ok
}

// claimMismatch is Mismatch of a claim that does not belong to the box.
func claimMismatch(rendered *unstructured.Unstructured, live apply.Object) string {
	wanted, err := modelboxrender.RenderedClaim(rendered)
	if err != nil {
		return err.Error()
	}
	claim := live.(*corev1.PersistentVolumeClaim)
	for _, mode := range wanted.Spec.AccessModes {
		if !slices.Contains(claim.Spec.AccessModes, mode) {
			return fmt.Sprintf("its access modes are %v, without %s", claim.Spec.AccessModes, mode)
		}
	}
	size, wantedSize := claim.Spec.Resources.Requests.Storage(), wanted.Spec.Resources.Requests.Storage()
	if size.Cmp(*wantedSize) < 0 {
		return fmt.Sprintf("its size is %s, less than %s", size, wantedSize)
	}
	return modelboxrender.OtherStorageClass(wanted, claim)
}
