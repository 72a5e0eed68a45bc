// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resizes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/podresources"
)

// progress is how far the pods of a box have come.
type progress struct {
	// resized is the number of pods that have the resources.
	resized int32
	// reason and message are why a pod does not get them. They are empty if nothing is known to be in the way.
	reason, message string
	// recheckAfter is after how long to requeue the box, 0 for not at all.
	recheckAfter time.Duration
}

// obstruct takes note of why a pod is not resized. A pod that cannot be resized matters more than a pod that waits.
func (p *progress) obstruct(pod *corev1.Pod, reason, why string) {
	if p.reason == "" || p.reason == modelv1.ResizeDeferred && reason == modelv1.ResizeInfeasible {
		p.reason, p.message = reason, fmt.Sprintf("pod %s: %s", pod.Name, why)
	}
}

// resizePods gives pods the resources of the template. It starts as many at a time as a rolling update of the workload may make
// unavailable, and at least one: a pod whose containers restart, or that does not recover, does not take others along. It stops at a pod
// that cannot be resized.
func (r *Reconciler) resizePods(ctx context.Context, box *modelv1.ModelBox, pods []*corev1.Pod, wanted *corev1.PodTemplateSpec, workload kinds.Workload, now time.Time) (progress, error) {
	var found progress
	var waiting []*corev1.Pod
	underWay := 0
	for _, pod := range pods {
		switch state := stateOf(pod, wanted); {
		case state.reason != "":
			found.obstruct(pod, state.reason, state.message)
		case !state.isAsked:
			waiting = append(waiting, pod)
		case !state.isDone:
			underWay++
		default:
			found.resized++
			if !kinds.IsReady(pod) {
				underWay++
			}
		}
	}
	// A pod that does not serve has nothing to lose.
	slices.SortStableFunc(waiting, func(a, b *corev1.Pod) int { return cmp.Compare(readiness(a), readiness(b)) })
	for _, pod := range waiting {
		if underWay >= kinds.MaxUnavailable(workload) || found.reason == modelv1.ResizeInfeasible {
			break
		}
		if isRefused := r.findRefusal(box, pod, now, &found); isRefused {
			break
		}
		if err := r.resizePod(ctx, box, pod, wanted, now, &found); err != nil {
			return found, err
		}
		underWay++
	}
	return found, nil
}

// readiness orders pods that are not ready before pods that are.
func readiness(pod *corev1.Pod) int {
	if kinds.IsReady(pod) {
		return 1
	}
	return 0
}

// resizePod asks for the resources of the pod. It takes note of a refusal in found. The error is any other failure.
func (r *Reconciler) resizePod(ctx context.Context, box *modelv1.ModelBox, pod *corev1.Pod, wanted *corev1.PodTemplateSpec, now time.Time, found *progress) error {
	resized := pod.DeepCopy()
	podresources.Request(resized, wanted)
	_, err := timeout.Request(ctx, func(ctx context.Context) (*corev1.Pod, error) {
		return r.kubeClient.CoreV1().Pods(pod.Namespace).UpdateResize(ctx, pod.Name, resized, metav1.UpdateOptions{})
	})
	switch {
	case err == nil:
		klog.FromContext(ctx).V(2).Info("Resized pod", "pod", klog.KObj(pod))
	case apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		r.refuse(box, pod, modelv1.ResizeInfeasible, "the cluster does not serve pods/resize", now, found)
	case apierrors.IsConflict(err), apierrors.IsNotFound(err): // It has changed, or is gone.
		found.recheckAfter = conflictRetry
	case children.IsQuotaExceeded(err):
		r.refuse(box, pod, modelv1.ResizeDeferred, err.Error(), now, found)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err): // such as by a node that is too small
		r.refuse(box, pod, modelv1.ResizeInfeasible, err.Error(), now, found)
	default:
		return fmt.Errorf("resizing pod %s: %w", pod.Name, err)
	}
	return nil
}

// podState is what became of the resize of a pod.
type podState struct {
	// isAsked is true if the spec of the pod has the resources.
	isAsked bool
	// isDone is true if its containers have them.
	isDone bool
	// reason and message are why the containers do not get them. They are empty if nothing is known to be in the way.
	reason, message string
}

// stateOf returns what became of the resize of the pod to the resources of the template.
func stateOf(pod *corev1.Pod, wanted *corev1.PodTemplateSpec) podState {
	if podresources.Request(pod.DeepCopy(), wanted) {
		return podState{}
	}
	state := podState{isAsked: true}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		switch {
		case condition.Status != corev1.ConditionTrue:
		case condition.Type == corev1.PodResizePending && condition.Reason == corev1.PodReasonInfeasible:
			state.reason, state.message = modelv1.ResizeInfeasible, condition.Message
			return state
		case condition.Type == corev1.PodResizePending:
			state.reason, state.message = modelv1.ResizeDeferred, condition.Message
			return state
		case condition.Type == corev1.PodResizeInProgress && condition.Reason == corev1.PodReasonError:
			state.reason, state.message = modelv1.ResizeDeferred, condition.Message
			return state
		case condition.Type == corev1.PodResizeInProgress:
			return state
		}
	}
	state.isDone = hasObserved(pod) && podresources.AreActual(pod)
	return state
}

// hasObserved returns whether the kubelet has seen the resources in the spec of the pod. Kubelets before 1.34 do not say.
func hasObserved(pod *corev1.Pod) bool {
	return pod.Status.ObservedGeneration == 0 || pod.Status.ObservedGeneration >= pod.Generation
}
