// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// HoldsCandidate is children.Hold for the box: its candidate stays as long as the status has it.
func HoldsCandidate(box *modelv1.ModelBox, step *apply.Step) bool {
	return step.Operation == apply.Prune && step.Name() == helper.CandidateName(box.Name) &&
		box.Status.Rollout != nil && box.Status.Rollout.Candidate != nil
}

func isOfCandidate(pod *corev1.Pod) bool { return pod.Labels[modelv1.CandidateLabel] != "" }

func hasCandidatePods(observed *status.Observation) bool {
	return slices.ContainsFunc(observed.Pods, isOfCandidate)
}

// lacksRoom returns whether the workload of the box cannot have its pods beside the pods of the candidate, because a quota does not
// allow them, or because they fit on no node.
func lacksRoom(observed *status.Observation) bool {
	deployment, isDeployment := observed.Workload.(kinds.Deployment)
	if !isDeployment || deployment.CreationFailure() != nil {
		return true
	}
	return slices.ContainsFunc(observed.Pods, func(pod *corev1.Pod) bool {
		return !isOfCandidate(pod) && slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable
		})
	})
}
