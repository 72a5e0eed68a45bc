// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
)

// deleteBlockingPod deletes the pod of a StatefulSet that keeps it from its update, so that it is created with the wanted
// revision. With the pod management policy OrderedReady the StatefulSet controller waits until every pod is available before
// it updates any: one that never will be, because of what the box said before, would keep the box from ever being as it says. It
// returns after how long to requeue the box for a pod that is to be deleted later, 0 for never.
func (c *Controller) deleteBlockingPod(ctx context.Context, box *modelv1.ModelBox, result *children.Result, observed *observation) (time.Duration, error) {
	set, isStatefulSet := observed.workload.(statefulSetWorkload)
	if !isStatefulSet || box.Spec.Paused || result.Failure("StatefulSet", set.Name) != nil {
		return 0, nil
	}
	pod := blockingPod(set.StatefulSet, observed.pods, observed.now)
	if pod == nil || podWithoutStorage(set.StatefulSet, observed.pods, observed.now) != nil {
		return 0, nil // That one is deleted first.
	}
	failure := failureOfPod(pod, observed)
	if left := unreadySince(pod).Add(timeToRecover(failure)).Sub(observed.now); left > 0 && !isRolledBack(box) {
		return left, nil
	}
	if isUpdating, err := c.confirmUpdate(ctx, set.StatefulSet); err != nil || !isUpdating {
		return 0, err
	}
	return 0, c.deletePodOfFormerRevision(ctx, box, pod, failure)
}

// blockingPod returns the pod that the StatefulSet controller waits for although it is of a former revision, nil where there is
// none. The controller goes by the ordinals, and stops at the first pod that is not available. With the policy Parallel it waits
// for none of a former revision.
func blockingPod(set *appsv1.StatefulSet, pods []*corev1.Pod, now time.Time) *corev1.Pod {
	if set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement {
		return nil
	}
	for pod := range inOrdinalOrder(set, pods) {
		switch {
		case pod == nil:
			return nil // or on its way out
		case isAvailable(pod, set.Spec.MinReadySeconds, now):
		case isOfFormerRevision(set, pod) && !isReady(pod):
			return pod
		default:
			return nil
		}
	}
	return nil
}

// isOfFormerRevision returns whether the StatefulSet is to replace the pod by one of another revision.
func isOfFormerRevision(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	isUpdating := set.DeletionTimestamp == nil && set.Status.ObservedGeneration >= set.Generation && set.Status.UpdateRevision != "" &&
		set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && statefulSetWorkload{set}.pause() == nil
	revision := pod.Labels[appsv1.StatefulSetRevisionLabel]
	return isUpdating && metav1.IsControlledBy(pod, set) && revision != "" && revision != set.Status.UpdateRevision
}

// isReplaced returns whether the workload of the box replaces the pod by one of another revision, whatever becomes of the pod.
// Others than StatefulSets do so without waiting for it.
func isReplaced(box *modelv1.ModelBox, workload workload, pod *corev1.Pod) bool {
	set, isStatefulSet := workload.(statefulSetWorkload)
	return isStatefulSet && !box.Spec.Paused && isOfFormerRevision(set.StatefulSet, pod)
}

// failureOfPod returns why the pod does not get ready, nil where it is not known to fail.
func failureOfPod(pod *corev1.Pod, observed *observation) *podFailure {
	f := &podFailures{now: observed.now, mountFailures: observed.mountFailures, pendingClaims: observed.pendingClaims}
	f.visitPod(pod)
	return f.worst
}

// timeToRecover is how long a pod may be unready before it is deleted. One that is not known to fail may be at work, such as
// on its data.
func timeToRecover(failure *podFailure) time.Duration {
	if failure == nil || slices.Contains([]string{containersNotReady, containerCreating, modelv1.ReasonProgressing}, failure.reason) {
		return progressDeadline
	}
	return startTimeout
}

// isRolledBack returns whether the rollout of the box has failed, and is taken back: what is not ready of it need not be waited for.
func isRolledBack(box *modelv1.ModelBox) bool {
	return box.Status.Rollout != nil && box.Status.Rollout.Phase == modelv1.RolloutRolledBack
}

// unreadySince returns since when the pod, which is not ready, has not been.
func unreadySince(pod *corev1.Pod) time.Time {
	if ready := readyConditionOf(pod); ready != nil && !ready.LastTransitionTime.IsZero() {
		return ready.LastTransitionTime.Time
	}
	return pod.CreationTimestamp.Time
}

func isReady(pod *corev1.Pod) bool {
	ready := readyConditionOf(pod)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

// readyConditionOf returns the condition Ready of the pod, nil where it has none.
func readyConditionOf(pod *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool { return condition.Type == corev1.PodReady })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}

// confirmUpdate returns whether the StatefulSet is as the cache has it: it still updates its pods to the same revision.
func (c *Controller) confirmUpdate(ctx context.Context, cached *appsv1.StatefulSet) (bool, error) {
	live, err := c.liveStatefulSet(ctx, cached)
	if err != nil || live == nil {
		return false, err
	}
	return live.Generation == cached.Generation && live.Status.UpdateRevision == cached.Status.UpdateRevision, nil
}

// liveStatefulSet reads the StatefulSet from the cluster. It returns nil if the one in the cache is gone or being deleted.
func (c *Controller) liveStatefulSet(ctx context.Context, cached *appsv1.StatefulSet) (*appsv1.StatefulSet, error) {
	live, err := timeout.Request(ctx, func(ctx context.Context) (*appsv1.StatefulSet, error) {
		return c.kubeClient.AppsV1().StatefulSets(cached.Namespace).Get(ctx, cached.Name, metav1.GetOptions{})
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading StatefulSet %s anew: %w", cached.Name, err)
	case live.UID != cached.UID || live.DeletionTimestamp != nil:
		return nil, nil
	default:
		return live, nil
	}
}

// deletePodOfFormerRevision deletes the pod if it is as the cache has it: not ready, and not being deleted. Like the
// StatefulSet controller it does not ask a disruption budget: a pod that is not ready is none of those that a budget counts.
func (c *Controller) deletePodOfFormerRevision(ctx context.Context, box *modelv1.ModelBox, pod *corev1.Pod, failure *podFailure) error {
	isDeleted, err := c.deletePod(ctx, pod, metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
	if err != nil {
		return fmt.Errorf("deleting pod %s, which is not ready and keeps the StatefulSet from its update: %w", pod.Name, err)
	}
	if !isDeleted {
		return nil
	}
	why := fmt.Sprintf("pod %s is not ready", pod.Name)
	if failure != nil {
		why = failure.message
	}
	c.podEventf(box, pod, corev1.EventTypeNormal, "DeletedPod", "Delete",
		"Deleted pod %s of former revision %s, which kept the StatefulSet from its update: %s", pod.Name, pod.Labels[appsv1.StatefulSetRevisionLabel], why)
	klog.FromContext(ctx).V(2).Info("Deleted pod of a former revision", "pod", klog.KObj(pod))
	return nil
}

// deleteOutdatedPod deletes a pod of a rollout that is tried again which failed before the retry, so that there is a new one. It is
// not ready, like those that deletePodOfFormerRevision deletes.
func (c *Controller) deleteOutdatedPod(ctx context.Context, box *modelv1.ModelBox, observed *observation) error {
	pod := observed.rollout.outdated
	if pod == nil {
		return nil
	}
	isDeleted, err := c.deletePod(ctx, pod, metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
	if err != nil {
		return fmt.Errorf("deleting pod %s, which failed before the rollout was tried again: %w", pod.Name, err)
	}
	if isDeleted {
		c.podEventf(box, pod, corev1.EventTypeNormal, "DeletedPod", "Delete", "Deleted pod %s, which failed before the rollout was tried again", pod.Name)
		klog.FromContext(ctx).V(2).Info("Deleted pod of a rollout that is tried again", "pod", klog.KObj(pod))
	}
	return nil
}
