// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// boxOfPodEvent returns the box whose pod the event is about. It is false for all other pods of the cluster.
func (c *Controller) boxOfPodEvent(object metav1.Object) (types.NamespacedName, bool) {
	event, ok := object.(*eventsv1.Event)
	if !ok {
		return types.NamespacedName{}, false
	}
	pod, exists, err := c.pods.GetByKey(event.Regarding.Namespace + "/" + event.Regarding.Name)
	if err != nil || !exists {
		return types.NamespacedName{}, false
	}
	return kinds.PodBoxKey(pod.(*corev1.Pod))
}

// mountFailures returns the last event about the volumes of each pod that still waits for its volumes.
func (c *Controller) mountFailures(pods []*corev1.Pod) (map[types.UID]string, error) {
	failures := map[types.UID]string{}
	for _, pod := range pods {
		if !waitsForVolumes(pod) {
			continue
		}
		last, err := lastEventAbout(c.mountEvents, pod)
		if err != nil {
			return nil, err
		}
		if last != nil {
			failures[pod.UID] = last.Note
		}
	}
	return failures, nil
}

// waitsForVolumes returns whether the pod may still be without its volumes. They come before its sandbox: once it has
// that, what was said about them is over.
func waitsForVolumes(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReadyToStartContainers && condition.Status == corev1.ConditionTrue {
			return false
		}
	}
	return pod.Status.Phase == corev1.PodPending
}
