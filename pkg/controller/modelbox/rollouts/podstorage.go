// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// DeletePodWithoutStorage deletes the first pod of a StatefulSet that lacks a volume which its templates have, so that it is
// created with it. The StatefulSet controller does not get past such a pod: before it rolls any, it tries to add the volume,
// which pods do not take.
func (r *Reconciler) DeletePodWithoutStorage(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation) error {
	set, isStatefulSet := observed.Workload.(kinds.StatefulSet)
	if !isStatefulSet || box.Spec.Paused || set.DeletionTimestamp != nil || set.Pause() != nil {
		return nil
	}
	pod := PodWithoutStorage(set.StatefulSet, observed.Pods, observed.Now)
	if pod == nil {
		return nil
	}
	return r.deletePod(ctx, box, pod, podDeletion{
		failure: "lacks storage",
		event:   fmt.Sprintf("Deleted pod %s, which lacks storage that the box asks for", pod.Name),
		log:     "Deleted pod without storage",
	})
}

// PodWithoutStorage returns the first pod of the StatefulSet that lacks a volume of its templates, nil where there is none,
// or where one before it is not available: the StatefulSet controller creates pods in the order of their ordinals.
func PodWithoutStorage(set *appsv1.StatefulSet, pods []*corev1.Pod, now time.Time) *corev1.Pod {
	for pod := range inOrdinalOrder(set, pods) {
		switch {
		case pod == nil || !metav1.IsControlledBy(pod, set):
			return nil // or not adopted yet by a StatefulSet that was created again
		case lacksStorage(pod, set):
			return pod
		case !isAvailable(pod, set.Spec.MinReadySeconds, now):
			return nil
		}
	}
	return nil
}

// inOrdinalOrder returns the pod of each ordinal of the StatefulSet, nil where there is none, in the order in which its controller
// visits them.
func inOrdinalOrder(set *appsv1.StatefulSet, pods []*corev1.Pod) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		var start int32
		if set.Spec.Ordinals != nil {
			start = set.Spec.Ordinals.Start
		}
		for ordinal := start; ordinal < start+ptr.Deref(set.Spec.Replicas, 1); ordinal++ {
			name := fmt.Sprintf("%s-%d", set.Name, ordinal)
			var pod *corev1.Pod
			if i := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == name }); i >= 0 {
				pod = pods[i]
			}
			if !yield(pod) {
				return
			}
		}
	}
}

func lacksStorage(pod *corev1.Pod, set *appsv1.StatefulSet) bool {
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool {
		return !slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
			return volume.Name == template.Name && volume.PersistentVolumeClaim != nil
		})
	})
}

// isAvailable returns whether the pod has been ready for that long.
func isAvailable(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue &&
			now.Sub(condition.LastTransitionTime.Time) >= time.Duration(minReadySeconds)*time.Second
	})
}
