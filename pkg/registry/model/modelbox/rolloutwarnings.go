// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// rolloutWarnings says how many pods an update replaces, at once or, for a box that is paused, once it no longer is. Of pods
// that are stopped before others follow them it also says how many are gone at a time.
//
// The number is exact where every pod is known to run what the old box says, which is when the status is about the old
// box and its rollout is complete. Else some pods may run what the new box says already, as those do that a revert
// finds, or a change may be pending since the box was paused: which pod template they run only they and their ReplicaSets
// tell, so the number is an upper bound and the warning says so. Of which box they are is said if of is not empty.
//
// Of a box with a type of rollouts it says the steps in which its pods are replaced, or why there are none. Of a box whose pods run to
// completion it says what runs again.
func rolloutWarnings(ctx context.Context, box, old *model.ModelBox, of string) []string {
	if box.Spec.Workload.RunsToCompletion() {
		return runWarnings(ctx, box, old, of)
	}
	count := replacedPods(box, old)
	if count == 0 {
		return nil
	}
	applied := isCurrent(old, modelv1.ConditionApplied, modelv1.ReasonApplied)
	resumes := old.Spec.Paused && !box.Spec.Paused && !applied
	before, after := podTemplates(ctx, box, old)
	if !resumes && (before == nil || after == nil || apiequality.Semantic.DeepEqual(before, after)) {
		return nil
	}
	pods, because := countedPods(count), ""
	if of != "" {
		pods += " of " + of
	}
	var notInPlace string
	if !resumes {
		resized, obstacle := resizes(box, old, before, after, pods)
		if resized != "" {
			return []string{resized}
		}
		notInPlace = obstacle
	}
	if !applied || !isCurrent(old, modelv1.ConditionProgressing, modelv1.ReasonRolloutComplete) {
		pods, because = "up to "+pods, warn.UpdatedPodsStay
	}
	if notInPlace != "" {
		because += warn.NotInPlace(notInPlace)
	}
	warnings := []string{rolls(box, old, pods, count, because)}
	if runsJobBefore(box) {
		warnings = append(warnings, warn.RunsJobBefore)
	}
	return warnings
}

// runsJobBefore returns whether the new pods of the box wait for the Job of spec.before.
func runsJobBefore(box *model.ModelBox) bool {
	if box.Spec.Before == nil {
		return false
	}
	served, err := boxview.V1(box)
	if err != nil {
		return false
	}
	hash, err := modelboxrender.PodsHash(served)
	return err == nil && modelboxrender.NeedsJob(served, modelv1.JobBefore, served.Status.Rollout, hash)
}

// rolls says how an update replaces pods, which are so many. because ends the sentence.
func rolls(box, old *model.ModelBox, pods string, count int32, because string) string {
	steps, obstacle := stepsOfUpdate(box, old)
	switch atATime := replacedAtATime(&box.Spec, count); {
	case leavesOutSteps(box, old):
		return timed(box, "roll", pods+" without the steps of the rollout", atATime+because)
	case steps != "":
		return timed(box, "roll", pods+" in steps", ": "+steps)
	case obstacle != "":
		return timed(box, "roll", pods, atATime+", not in steps: "+obstacle)
	default:
		return timed(box, "roll", pods, atATime+because)
	}
}

func countedPods(count int32) string {
	if count == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", count)
}

// replacedAtATime says how many of so many pods are replaced at a time, where that is not a matter of a surge and of a step: in
// a StatefulSet, whose pods follow one another under the same name, and in a DaemonSet, which has one on every node.
func replacedAtATime(spec *model.ModelBoxSpec, count int32) string {
	if spec.Workload == model.WorkloadDeployment || count == 1 {
		return ""
	}
	limit := rolloutLimit(spec.RollingUpdate)
	isRoundedUp := spec.Workload == model.WorkloadDaemonSet
	step, err := intstr.GetScaledValueFromIntOrPercent(&limit, int(count), isRoundedUp)
	switch {
	case err != nil:
		return ""
	case step <= 1:
		return ", one at a time"
	default:
		return fmt.Sprintf(", up to %d at a time", min(step, int(count)))
	}
}

// rolloutLimit is the limit of a rolling update that is not 0, of which a StatefulSet and a DaemonSet have one. It is 1 by
// default.
func rolloutLimit(rollingUpdate *model.RollingUpdate) intstr.IntOrString {
	if rollingUpdate == nil {
		return intstr.FromInt32(1)
	}
	if step, ok := helper.RollingUpdateStep(rollingUpdate); ok {
		return step
	}
	if surge := rollingUpdate.MaxSurge; surge != nil && *surge != intstr.FromInt32(0) && *surge != intstr.FromString("0%") {
		return *surge
	}
	return ptr.Deref(rollingUpdate.MaxUnavailable, intstr.FromInt32(1))
}

// isCurrent returns whether the condition has the reason and is about the box as it is.
func isCurrent(box *model.ModelBox, conditionType, reason string) bool {
	condition := meta.FindStatusCondition(box.Status.Conditions, conditionType)
	return condition != nil && condition.Reason == reason && condition.ObservedGeneration == box.Generation
}

// replacedPods is how many of the pods that there are a rollout replaces at most: those that the box gives up at the
// same time have no successor.
func replacedPods(box, old *model.ModelBox) int32 {
	if box.Spec.Workload == model.WorkloadDaemonSet {
		return old.Status.Replicas
	}
	if replicasOf(box) > 0 && (isWorkloadAutoscaled(old) || !isCurrent(old, modelv1.ConditionApplied, modelv1.ReasonApplied)) {
		return old.Status.Replicas
	}
	return min(old.Status.Replicas, replicasOf(box))
}

// podTemplates returns the pod templates of the box and of the old box, nil for one that cannot be rendered.
func podTemplates(ctx context.Context, box, old *model.ModelBox) (before, after *corev1.PodTemplateSpec) {
	before, err := boxview.PodTemplate(ctx, old)
	if err != nil {
		// An older release accepted it. The update that repairs it must not fail for want of a warning.
		klog.FromContext(ctx).V(2).Info("Comparing with a pod template that cannot be rendered", "box", klog.KObj(old), "err", err)
		return nil, nil
	}
	after, err = boxview.PodTemplate(ctx, box)
	if err != nil {
		return before, nil
	}
	return before, after
}
