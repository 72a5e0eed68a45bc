// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// PodMounts tells which volumes the pods of boxes have.
type PodMounts struct{ Pods cache.Indexer }

// workloadIn returns the workload of a box after its children were reconciled, nil if there is none.
func workloadIn(result *children.Result, name string) Workload {
	return AsWorkload(result.Child(result.Rendered[0].GroupVersionKind(), name))
}

// IsMounted returns whether pods of the box have the volume, or may get it: while a rollout runs, a pod that is deleted is created
// again from its former template.
func (m PodMounts) IsMounted(box types.NamespacedName, workload Workload, isIt func(corev1.Volume) bool) (bool, error) {
	if workload == nil || workload.Rollout().Reason != modelv1.ReasonRolloutComplete || slices.ContainsFunc(workload.PodTemplate().Spec.Volumes, isIt) {
		return true, nil
	}
	pods, err := m.Pods.ByIndex(ByBox, box.String())
	if err != nil {
		return false, fmt.Errorf("looking up the pods of the box: %w", err)
	}
	return slices.ContainsFunc(pods, func(object any) bool {
		pod := object.(*corev1.Pod)
		isOver := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		return !isOver && slices.ContainsFunc(pod.Spec.Volumes, isIt)
	}), nil
}
