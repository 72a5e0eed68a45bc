// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
)

// verdict is a condition without its bookkeeping.
type verdict struct {
	isTrue  bool
	reason  string
	message string
}

// conditionsOf computes the conditions of this generation. Those whose status stays the same keep their time.
func conditionsOf(box *modelv1.ModelBox, observed *observation) []metav1.Condition {
	applied := appliedVerdict(observed)
	rollout := rolloutVerdict(observed)
	verdicts := []struct {
		condition string
		verdict
	}{
		{modelv1.ConditionReady, readyVerdict(box, observed, applied, rollout)},
		{modelv1.ConditionAvailable, availableVerdict(observed)},
		{modelv1.ConditionProgressing, rollout},
		{modelv1.ConditionApplied, applied},
	}
	conditions := slices.Clone(box.Status.Conditions)
	for _, v := range verdicts {
		condition := metav1.Condition{
			Type:               v.condition,
			Status:             metav1.ConditionFalse,
			Reason:             conditionReason(v.reason),
			Message:            message.Truncate(v.message),
			ObservedGeneration: box.Generation,
		}
		if v.isTrue {
			condition.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&conditions, condition)
	}
	return withStalled(conditions, box.Generation, applied, rollout)
}

// withStalled adds the condition that the box will not get further by itself, or removes it. It is one of the two
// that tools which wait for any kind of object look for, the other being Ready.
func withStalled(conditions []metav1.Condition, generation int64, applied, rollout verdict) []metav1.Condition {
	stalled := rollout
	if slices.Contains(lastingReasons, applied.reason) {
		stalled = applied
	}
	if !slices.Contains(lastingReasons, stalled.reason) {
		meta.RemoveStatusCondition(&conditions, modelv1.ConditionStalled)
		return conditions
	}
	meta.SetStatusCondition(&conditions, metav1.Condition{
		Type:               modelv1.ConditionStalled,
		Status:             metav1.ConditionTrue,
		Reason:             stalled.reason,
		Message:            message.Truncate(stalled.message),
		ObservedGeneration: generation,
	})
	return conditions
}

// lastingReasons are those that do not pass by waiting.
var lastingReasons = []string{
	modelv1.ReasonNotOwned,
	modelv1.ReasonForbidden,
	modelv1.ReasonInvalid,
	modelv1.ReasonRejected,
	modelv1.ReasonProgressDeadlineExceeded,
}

func appliedVerdict(observed *observation) verdict {
	switch {
	case len(observed.failures) > 0:
		return verdict{false, children.Classify(observed.failures[0]).Reason, describe(observed.failures)}
	case len(observed.pending) > 0:
		return verdict{false, modelv1.ReasonPaused, "the box is paused; not up to date: " + strings.Join(observed.pending, ", ")}
	default:
		return verdict{true, modelv1.ReasonApplied, "all children are up to date"}
	}
}

// rolloutVerdict is True while the Deployment controller works on a rollout. A Deployment that is paused still scales
// and replaces pods, but does not get further with a rollout.
func rolloutVerdict(observed *observation) verdict {
	deployment := observed.deployment
	if deployment == nil {
		return verdict{true, modelv1.ReasonProgressing, "there is no Deployment yet"}
	}
	rollout, pause := deploymentVerdict(deployment), pauseOf(deployment)
	if pause == "" {
		return rollout
	}
	rollout.message = fmt.Sprintf("%s; %s", rollout.message, pause)
	if rollout.isTrue && isRollingOut(deployment) {
		rollout.isTrue, rollout.reason = false, modelv1.ReasonDeploymentPaused
	}
	return rollout
}

// isRollingOut returns whether the Deployment controller has still to bring the current pod template to replicas, which
// is more than to scale those that run it.
func isRollingOut(deployment *appsv1.Deployment) bool {
	status := &deployment.Status
	return status.ObservedGeneration >= deployment.Generation && (status.Replicas > status.UpdatedReplicas || status.UpdatedReplicas == 0)
}

func deploymentVerdict(deployment *appsv1.Deployment) verdict {
	status, desired := &deployment.Status, ptr.Deref(deployment.Spec.Replicas, 1)
	progress := deploymentCondition(deployment, appsv1.DeploymentProgressing)
	switch {
	case status.ObservedGeneration < deployment.Generation:
		return verdict{true, modelv1.ReasonProgressing, "waiting for the Deployment spec update to be observed"}
	case progress != nil && progress.Reason == "ProgressDeadlineExceeded":
		return verdict{false, modelv1.ReasonProgressDeadlineExceeded, progress.Message}
	case status.UpdatedReplicas < desired:
		return verdict{true, modelv1.ReasonProgressing, fmt.Sprintf("%d out of %d new replicas have been updated", status.UpdatedReplicas, desired)}
	case status.Replicas > status.UpdatedReplicas:
		return verdict{true, modelv1.ReasonProgressing, count(status.Replicas-status.UpdatedReplicas, "old replica is", "old replicas are") + " pending termination"}
	case status.Replicas > desired:
		return verdict{true, modelv1.ReasonProgressing, count(status.Replicas-desired, "surplus replica is", "surplus replicas are") + " pending termination"}
	case status.AvailableReplicas < status.UpdatedReplicas:
		return verdict{true, modelv1.ReasonProgressing, fmt.Sprintf("%d of %d updated replicas are available", status.AvailableReplicas, status.UpdatedReplicas)}
	default:
		return verdict{false, modelv1.ReasonRolloutComplete, availableOf(status.AvailableReplicas, desired)}
	}
}

func availableVerdict(observed *observation) verdict {
	if observed.deployment == nil {
		return verdict{false, modelv1.ReasonProgressing, "there is no Deployment yet"}
	}
	available := deploymentCondition(observed.deployment, appsv1.DeploymentAvailable)
	if available == nil {
		return verdict{false, modelv1.ReasonProgressing, "the Deployment has not reported yet"}
	}
	return verdict{available.Status == corev1.ConditionTrue, available.Reason, available.Message}
}

// readyVerdict is True only for this generation: what was applied, rolled out and made reachable is what the box
// says now.
func readyVerdict(box *modelv1.ModelBox, observed *observation, applied, rollout verdict) verdict {
	failure := worse(creationFailure(observed.deployment), findPodFailures(box, observed).worst)
	if failure != nil && failure.reason == modelv1.ReasonProgressing && failure.reason != rollout.reason {
		failure = nil // pods that make progress are not why the rollout makes none
	}
	var earlier int32
	if observed.deployment != nil {
		earlier = earlierPods(observed.deployment, observed.pods)
	}
	switch {
	case applied.reason == modelv1.ReasonPaused:
		return applied
	case !applied.isTrue:
		return verdict{false, modelv1.ReasonNotApplied, reasonAndMessage(applied)}
	case rollout.reason != modelv1.ReasonRolloutComplete && failure != nil:
		return verdict{false, settledReason(box, failure), failure.message}
	case rollout.reason != modelv1.ReasonRolloutComplete:
		return verdict{false, rollout.reason, rollout.message}
	case earlier > 0:
		return verdict{false, modelv1.ReasonProgressing, count(earlier, "pod of an earlier Deployment is", "pods of an earlier Deployment are") + " pending termination"}
	case awaitsLoadBalancer(observed.service):
		return verdict{false, modelv1.ReasonLoadBalancerPending, "the Service has no address from a load balancer yet"}
	case *box.Spec.Replicas == 0:
		return verdict{true, modelv1.ReasonStopped, "the box is stopped: it asks for 0 replicas"}
	default:
		return verdict{true, modelv1.ReasonReady, rollout.message}
	}
}

// settledReason is that of the failure, but for an image that a kubelet tries to pull again: it has been waiting to do
// so, and it will be, so that nothing has changed.
func settledReason(box *modelv1.ModelBox, failure *podFailure) string {
	last := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
	if failure.reason == "ErrImagePull" && last != nil && last.Reason == "ImagePullBackOff" {
		return last.Reason
	}
	return failure.reason
}

// creationFailure is why pods of the Deployment are not even created, such as a quota. Nil when they are.
func creationFailure(deployment *appsv1.Deployment) *podFailure {
	if deployment == nil {
		return nil
	}
	failure := deploymentCondition(deployment, appsv1.DeploymentReplicaFailure)
	if failure == nil || failure.Status != corev1.ConditionTrue {
		return nil
	}
	return &podFailure{failure.Reason, failure.Message}
}

func awaitsLoadBalancer(service *corev1.Service) bool {
	return service != nil && service.Spec.Type == corev1.ServiceTypeLoadBalancer && len(service.Status.LoadBalancer.Ingress) == 0
}

func deploymentCondition(deployment *appsv1.Deployment, conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range deployment.Status.Conditions {
		if deployment.Status.Conditions[i].Type == conditionType {
			return &deployment.Status.Conditions[i]
		}
	}
	return nil
}
