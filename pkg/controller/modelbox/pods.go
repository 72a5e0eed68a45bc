// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// byBox indexes pods by the namespace and name of the box whose selector label they carry.
const byBox = "box"

func podBoxKey(pod metav1.Object) (types.NamespacedName, bool) {
	name, ok := pod.GetLabels()[modelv1.SelectorLabel]
	return types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}, ok
}

// podsOf returns the pods of the box that are not on their way out, sorted by name.
func (c *Controller) podsOf(box types.NamespacedName) ([]*corev1.Pod, error) {
	objects, err := c.pods.ByIndex(byBox, box.String())
	if err != nil {
		return nil, fmt.Errorf("looking up the pods of the box: %w", err)
	}
	pods := make([]*corev1.Pod, 0, len(objects))
	for _, object := range objects {
		pod := object.(*corev1.Pod)
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods, nil
}
