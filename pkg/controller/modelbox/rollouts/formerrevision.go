// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// DeleteBlockingPod deletes the pod of a StatefulSet that keeps it from its update, so that it is created with the wanted
// revision. With the pod management policy OrderedReady the StatefulSet controller waits until every pod is available before
// it updates any: one that never will be, because of what the box said before, would keep the box from ever being as it says. It
// returns after how long to requeue the box for a pod that is to be deleted later, 0 for never.
func (r *Reconciler) DeleteBlockingPod(ctx context.Context, box *modelv1.ModelBox, result *children.Result, observed *status.Observation) (time.Duration, error) {
	set, isStatefulSet := observed.Workload.(kinds.StatefulSet)
	if !isStatefulSet || box.Spec.Paused || result.Failure("StatefulSet", set.Name) != nil {
		return 0, nil
	}
	pod := BlockingPod(set.StatefulSet, observed.Pods, observed.Now)
	if pod == nil || PodWithoutStorage(set.StatefulSet, observed.Pods, observed.Now) != nil {
		return 0, nil // That one is deleted first.
	}
	failure := status.FailureOfPod(pod, observed)
	if left := kinds.UnreadySince(pod).Add(timeToRecover(failure)).Sub(observed.Now); left > 0 && !isRolledBack(box) {
		return left, nil
	}
	if isUpdating, err := r.confirmUpdate(ctx, set.StatefulSet); err != nil || !isUpdating {
		return 0, err
	}
	return 0, r.deletePodOfFormerRevision(ctx, box, pod, failure)
}

// BlockingPod returns the pod that the StatefulSet controller waits for although it is of a former revision, nil where there is
// none. The controller goes by the ordinals, and stops at the first pod that is not available. With the policy Parallel it waits
// for none of a former revision.
func BlockingPod(set *appsv1.StatefulSet, pods []*corev1.Pod, now time.Time) *corev1.Pod {
	if set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		return nil
	}
	for pod := range inOrdinalOrder(set, pods) {
		switch {
		case pod == nil:
			return nil // or on its way out
		case isAvailable(pod, set.Spec.MinReadySeconds, now):
		case kinds.IsOfFormerRevision(set, pod) && !kinds.IsReady(pod):
			return pod
		default:
			return nil
		}
	}
	return nil
}

// timeToRecover is how long a pod may be unready before it is deleted. One that is not known to fail may be at work, such as
// on its data.
func timeToRecover(failure *status.PodFailure) time.Duration {
	if failure == nil || slices.Contains([]string{status.ContainersNotReady, status.ContainerCreating, modelv1.ReasonProgressing}, failure.Reason) {
		return helper.DefaultProgressDeadline
	}
	return status.StartTimeout
}

// isRolledBack returns whether the rollout of the box has failed, and is taken back: nothing waits for pods of it that are not ready.
func isRolledBack(box *modelv1.ModelBox) bool {
	return box.Status.Rollout != nil && box.Status.Rollout.Phase == modelv1.RolloutRolledBack
}

// confirmUpdate returns whether the StatefulSet is as the cache has it: it still updates its pods to the same revision.
func (r *Reconciler) confirmUpdate(ctx context.Context, cached *appsv1.StatefulSet) (bool, error) {
	live, err := kinds.LiveStatefulSet(ctx, r.kubeClient, cached)
	if err != nil || live == nil {
		return false, err
	}
	return live.Generation == cached.Generation && live.Status.UpdateRevision == cached.Status.UpdateRevision, nil
}

// deletePodOfFormerRevision deletes the pod if it is as the cache has it: not ready, and not being deleted. Like the
// StatefulSet controller it does not ask a disruption budget: a pod that is not ready is none of those that a budget counts.
func (r *Reconciler) deletePodOfFormerRevision(ctx context.Context, box *modelv1.ModelBox, pod *corev1.Pod, failure *status.PodFailure) error {
	why := fmt.Sprintf("pod %s is not ready", pod.Name)
	if failure != nil {
		why = failure.Message
	}
	return r.deletePod(ctx, box, pod, podDeletion{
		failure: "is not ready and keeps the StatefulSet from its update",
		event: fmt.Sprintf("Deleted pod %s of former revision %s, which kept the StatefulSet from its update: %s",
			pod.Name, pod.Labels[appsv1.StatefulSetRevisionLabel], why),
		log:     "Deleted pod of a former revision",
		related: asRelated(pod),
	})
}

// DeletePodOfRollout deletes the pod, if any, that the observation of the rollout says to delete.
func (r *Reconciler) DeletePodOfRollout(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation) error {
	switch rollout := &observed.Rollout; {
	case rollout.Outdated != nil:
		return r.deleteOutdatedPod(ctx, box, rollout.Outdated)
	case rollout.Replaceable != nil:
		return r.deleteReplaceablePod(ctx, box, rollout.Replaceable)
	default:
		return nil
	}
}

// deleteOutdatedPod deletes a pod of a rollout that is tried again which failed before the retry, so that there is a new one. It is
// not ready, like those that deletePodOfFormerRevision deletes.
func (r *Reconciler) deleteOutdatedPod(ctx context.Context, box *modelv1.ModelBox, pod *corev1.Pod) error {
	return r.deletePod(ctx, box, pod, podDeletion{
		failure: "failed before the rollout was tried again",
		event:   fmt.Sprintf("Deleted pod %s, which failed before the rollout was tried again", pod.Name),
		log:     "Deleted pod of a rollout that is tried again",
		related: asRelated(pod),
	})
}
