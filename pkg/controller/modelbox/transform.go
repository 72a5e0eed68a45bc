// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// dropManagedFields keeps the largest part of an object that nothing here reads from the cache out of memory.
func dropManagedFields(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return obj, nil
}

// trimForCache prepares what the cluster's informers keep: children with their kind, which the API leaves out of
// lists, and pods, the most numerous objects by far, with no more than the status is made of.
func trimForCache(obj any) (any, error) {
	switch object := obj.(type) {
	case *corev1.Pod:
		return trimPod(object), nil
	case *autoscalingv2.HorizontalPodAutoscaler:
		return trimAutoscaler(object), nil
	case *eventsv1.Event:
		return trimEvent(object), nil
	case children.Object:
		return trimChild(object)
	default:
		return dropManagedFields(obj)
	}
}

func trimChild(object children.Object) (any, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	children.Trim(object, pausersOf(object)...)
	return object, nil
}

func trimPod(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              pod.Name,
			Namespace:         pod.Namespace,
			UID:               pod.UID,
			ResourceVersion:   pod.ResourceVersion,
			Labels:            pod.Labels,
			CreationTimestamp: pod.CreationTimestamp,
			DeletionTimestamp: pod.DeletionTimestamp,
		},
		Status: corev1.PodStatus{
			Phase:                 pod.Status.Phase,
			StartTime:             pod.Status.StartTime,
			Reason:                pod.Status.Reason,
			Message:               pod.Status.Message,
			Conditions:            pod.Status.Conditions,
			InitContainerStatuses: pod.Status.InitContainerStatuses,
			ContainerStatuses:     pod.Status.ContainerStatuses,
		},
	}
}

// trimAutoscaler keeps what it scales.
func trimAutoscaler(autoscaler *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{
			Name:            autoscaler.Name,
			Namespace:       autoscaler.Namespace,
			UID:             autoscaler.UID,
			ResourceVersion: autoscaler.ResourceVersion,
		},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscaler.Spec.ScaleTargetRef},
	}
}
