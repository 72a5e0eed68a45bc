// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/podresources"
)

// resizes says how an update resizes pods in place, where it changes one pod template to the other. It returns "" if the update replaces
// the pods; obstacle is the reason if the box asks for a resize all the same. pods are how many pods it is about, such as "3 pods".
func resizes(box, old *model.ModelBox, before, after *corev1.PodTemplateSpec, pods string) (text, obstacle string) {
	if box.Spec.Resize == nil || box.Spec.Resize.Mode == model.ResizeRestart || !podresources.EqualExceptResources(before, after) {
		return "", ""
	}
	if !isRolledOut(old) {
		return "", warn.RolloutInProgress
	}
	return describeResize(box, before, after, pods)
}

// describeResize is resizes for templates that differ in CPU and memory only.
func describeResize(box *model.ModelBox, before, after *corev1.PodTemplateSpec, pods string) (text, obstacle string) {
	obstacle = podresources.Obstacle(&before.Spec, &after.Spec)
	switch restarted := podresources.Restarted(&before.Spec, &after.Spec); {
	case obstacle != "" && box.Spec.Resize.Mode == model.ResizeInPlaceOnly:
		return warn.ResizesNoPod(obstacle), ""
	case obstacle != "":
		return "", obstacle
	case len(restarted) > 0:
		return timed(box, "resize", pods+" in place", ", and restarts container "+validate.JoinNames(restarted)+" of each"), ""
	default:
		return timed(box, "resize", pods+" in place", ", and restarts none"), ""
	}
}

// isRolledOut returns whether all pods run what the box says, or are resized to it.
func isRolledOut(box *model.ModelBox) bool {
	if rollout := box.Status.Rollout; rollout != nil && (rollout.Phase != model.RolloutComplete || rollout.Candidate != nil) {
		return false
	}
	resize := box.Status.Resize
	return resize != nil && resize.Phase != model.ResizePhase(modelv1.ResizeRestarting) ||
		isCurrent(box, modelv1.ConditionApplied, modelv1.ReasonApplied) && isCurrent(box, modelv1.ConditionProgressing, modelv1.ReasonRolloutComplete)
}
