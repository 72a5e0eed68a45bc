// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

// dropManagedFields keeps the largest part of an object that nothing here reads from the cache out of memory.
func dropManagedFields(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return obj, nil
}

// trimModel removes managed fields, except for what identifies the managed fields of a box, which can be a child.
func trimModel(obj any) (any, error) {
	box, ok := obj.(*modelv1.ModelBox)
	if !ok {
		return dropManagedFields(obj)
	}
	box.SetGroupVersionKind(modelv1.SchemeGroupVersion.WithKind("ModelBox"))
	fields.KeepFingerprint(box)
	return box, nil
}

// trim keeps no more of the most numerous kinds of objects than the status of their boxes is made of.
func trim(obj any) (any, error) {
	switch object := obj.(type) {
	case *corev1.Pod:
		return TrimPod(object), nil
	case *corev1.Service:
		return trimService(object), nil
	case *autoscalingv2.HorizontalPodAutoscaler:
		return trimAutoscaler(object), nil
	case *eventsv1.Event:
		return trimEvent(object), nil
	default:
		return dropManagedFields(obj)
	}
}

// TrimPod returns what the cache keeps of a pod: its name, its labels, which revision of its workload it is of, its networks, its
// ConfigMaps and claims, and its status.
func TrimPod(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              pod.Name,
			Namespace:         pod.Namespace,
			UID:               pod.UID,
			ResourceVersion:   pod.ResourceVersion,
			Labels:            pod.Labels,
			Annotations:       trimAnnotations(pod.Annotations),
			CreationTimestamp: pod.CreationTimestamp,
			DeletionTimestamp: pod.DeletionTimestamp,
			OwnerReferences:   trimController(pod),
		},
		Spec: corev1.PodSpec{Volumes: trimVolumes(pod.Spec.Volumes)},
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

// trimAnnotations keeps the networks in which a pod has addresses, except for the network of the cluster. It keeps nothing if the
// pod has none.
func trimAnnotations(annotations map[string]string) map[string]string {
	if status := networkattachment.TrimStatus(annotations[networkattachment.StatusAnnotation]); status != "" {
		return map[string]string{networkattachment.StatusAnnotation: status}
	}
	return nil
}

// trimController keeps the UID of the object that controls the pod: a StatefulSet, a DaemonSet, or a ReplicaSet, which is the
// revision of a Deployment that the pod is of.
func trimController(pod *corev1.Pod) []metav1.OwnerReference {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return nil
	}
	return []metav1.OwnerReference{{UID: controller.UID, Controller: controller.Controller}}
}

// trimVolumes keeps those that are ConfigMaps or claims, and which.
func trimVolumes(volumes []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for i := range volumes {
		switch source := volumes[i].VolumeSource; {
		case source.ConfigMap != nil:
			kept = append(kept, corev1.Volume{Name: volumes[i].Name, VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: source.ConfigMap.LocalObjectReference},
			}})
		case source.PersistentVolumeClaim != nil:
			kept = append(kept, corev1.Volume{Name: volumes[i].Name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: source.PersistentVolumeClaim.ClaimName},
			}})
		}
	}
	return kept
}

// trimService keeps what the Ingress of an annotated Service is made of, and of any other Service no more than which it is:
// there may be very many of those.
func trimService(service *corev1.Service) *corev1.Service {
	trimmed := &corev1.Service{
		// Events are about it.
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{
			Name:            service.Name,
			Namespace:       service.Namespace,
			UID:             service.UID,
			ResourceVersion: service.ResourceVersion,
		},
	}
	if !serviceingressrender.IsAnnotated(service) {
		return trimmed
	}
	trimmed.DeletionTimestamp = service.DeletionTimestamp
	trimmed.OwnerReferences = service.OwnerReferences
	trimmed.Annotations = map[string]string{}
	for _, name := range serviceingressrender.Annotations {
		if value, ok := service.Annotations[name]; ok {
			trimmed.Annotations[name] = value
		}
	}
	trimmed.Spec.Ports = service.Spec.Ports
	return trimmed
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

// trimEvent keeps what was said about which object, and when.
func trimEvent(event *eventsv1.Event) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:            event.Name,
			Namespace:       event.Namespace,
			UID:             event.UID,
			ResourceVersion: event.ResourceVersion,
		},
		Regarding: corev1.ObjectReference{
			Kind:      event.Regarding.Kind,
			Namespace: event.Regarding.Namespace,
			Name:      event.Regarding.Name,
			UID:       event.Regarding.UID,
		},
		Note:                    event.Note,
		EventTime:               event.EventTime,
		Series:                  event.Series,
		DeprecatedLastTimestamp: event.DeprecatedLastTimestamp,
	}
}
