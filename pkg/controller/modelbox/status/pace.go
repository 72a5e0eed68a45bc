// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// IsMereProgress returns whether nothing but numbers, names and messages differ: what waits for a box waits for a
// condition.
func IsMereProgress(before, after *modelv1.ModelBoxStatus) bool {
	return apiequality.Semantic.DeepEqual(withoutProgress(before), withoutProgress(after))
}

func withoutProgress(status *modelv1.ModelBoxStatus) modelv1.ModelBoxStatus {
	lasting := modelv1.ModelBoxStatus{
		ObservedGeneration: status.ObservedGeneration,
		Selector:           status.Selector,
		Address:            status.Address,
		NodePorts:          status.NodePorts,
		Rollout:            status.Rollout,
		Job:                status.Job,
		Conditions:         slices.Clone(status.Conditions),
	}
	if resize := status.Resize; resize != nil {
		lasting.Resize = &modelv1.ModelBoxResizeStatus{Phase: resize.Phase, PodsHash: resize.PodsHash, Reason: resize.Reason}
	}
	for i := range lasting.Conditions {
		lasting.Conditions[i].Message = ""
		lasting.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return lasting
}
