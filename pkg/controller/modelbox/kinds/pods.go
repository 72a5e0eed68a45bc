// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ByBox indexes pods by the namespace and name of the box whose selector label they carry.
const ByBox = "box"

func PodBoxKey(pod metav1.Object) (types.NamespacedName, bool) {
	name, ok := pod.GetLabels()[modelv1.SelectorLabel]
	return types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}, ok
}

// PodsOf returns the pods of the box that are not on their way out, sorted by name. Pods are indexed by their box.
func PodsOf(indexer cache.Indexer, box types.NamespacedName) ([]*corev1.Pod, error) {
	objects, err := indexer.ByIndex(ByBox, box.String())
	if err != nil {
		return nil, fmt.Errorf("looking up the pods of the box: %w", err)
	}
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		pod := object.(*corev1.Pod)
		if IsActive(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods, nil
}

// IsActive returns whether the pod neither is being deleted nor has ended.
func IsActive(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// UnreadySince returns since when the pod, which is not ready, has not been.
func UnreadySince(pod *corev1.Pod) time.Time {
	if ready := readyConditionOf(pod); ready != nil && !ready.LastTransitionTime.IsZero() {
		return ready.LastTransitionTime.Time
	}
	return pod.CreationTimestamp.Time
}

func IsReady(pod *corev1.Pod) bool {
	ready := readyConditionOf(pod)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

// readyConditionOf returns the condition Ready of the pod, nil if it has none.
func readyConditionOf(pod *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool { return condition.Type == corev1.PodReady })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}
