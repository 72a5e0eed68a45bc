// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/debugcontainer"
)

// trimPod keeps of a pod what it is called, by what it is selected, who controls it, the names of its containers, and the states of
// the ephemeral ones: a namespace may have very many pods.
func trimPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	trimmed := &corev1.Pod{
		// Events are about it.
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:              pod.Name,
			Namespace:         pod.Namespace,
			UID:               pod.UID,
			ResourceVersion:   pod.ResourceVersion,
			Labels:            pod.Labels,
			CreationTimestamp: pod.CreationTimestamp,
			DeletionTimestamp: pod.DeletionTimestamp,
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	for _, annotation := range []string{corev1.MirrorPodAnnotationKey, debugcontainer.DefaultContainerAnnotation} {
		if value, ok := pod.Annotations[annotation]; ok {
			metav1.SetMetaDataAnnotation(&trimmed.ObjectMeta, annotation, value)
		}
	}
	if controller := metav1.GetControllerOf(pod); controller != nil {
		trimmed.OwnerReferences = []metav1.OwnerReference{*controller}
	}
	for i := range pod.Spec.Containers {
		trimmed.Spec.Containers = append(trimmed.Spec.Containers, corev1.Container{Name: pod.Spec.Containers[i].Name})
	}
	for i := range pod.Spec.EphemeralContainers {
		trimmed.Spec.EphemeralContainers = append(trimmed.Spec.EphemeralContainers, corev1.EphemeralContainer{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: pod.Spec.EphemeralContainers[i].Name},
		})
	}
	for i := range pod.Status.EphemeralContainerStatuses {
		status := &pod.Status.EphemeralContainerStatuses[i]
		trimmed.Status.EphemeralContainerStatuses = append(trimmed.Status.EphemeralContainerStatuses, corev1.ContainerStatus{Name: status.Name, State: status.State})
	}
	return trimmed, nil
}

// relevantUpdates leaves out the updates of pods that change nothing of what trimPod keeps, which are most.
type relevantUpdates struct {
	cache.ResourceEventHandler
}

// OnUpdate implements cache.ResourceEventHandler.
func (h relevantUpdates) OnUpdate(old, obj any) {
	before, wasPod := old.(*corev1.Pod)
	after, isPod := obj.(*corev1.Pod)
	if wasPod && isPod {
		sameVersion := *before
		sameVersion.ResourceVersion = after.ResourceVersion
		if apiequality.Semantic.DeepEqual(&sameVersion, after) {
			return
		}
	}
	h.ResourceEventHandler.OnUpdate(old, obj)
}

// hasContainer returns whether the pod has an ephemeral container of that name.
func hasContainer(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.EphemeralContainers, func(container corev1.EphemeralContainer) bool { return container.Name == name })
}
