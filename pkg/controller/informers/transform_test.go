// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package informers

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// What the status of a box is made of has to survive.
func TestTrim(t *testing.T) {
	metadata := metav1.ObjectMeta{Name: "web-1", Namespace: "default", UID: "uid", ResourceVersion: "1"}
	whole := *metadata.DeepCopy()
	whole.Annotations = map[string]string{"large": "x"}
	whole.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	withLabels := func(metadata metav1.ObjectMeta) metav1.ObjectMeta {
		metadata.Labels = map[string]string{"modelbox": "web"}
		return metadata
	}
	ownedBy := func(metadata metav1.ObjectMeta, owner metav1.OwnerReference) metav1.ObjectMeta {
		metadata.OwnerReferences = []metav1.OwnerReference{owner}
		return metadata
	}
	controlledBy := func(metadata metav1.ObjectMeta, kind string) metav1.ObjectMeta {
		return ownedBy(metadata, metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: "web", UID: "owner", Controller: ptr.To(true)})
	}
	annotated := func(metadata metav1.ObjectMeta, annotations ...string) metav1.ObjectMeta {
		metadata.Annotations = maps.Clone(metadata.Annotations)
		if metadata.Annotations == nil {
			metadata.Annotations = map[string]string{}
		}
		for pair := range slices.Chunk(annotations, 2) {
			metadata.Annotations[pair[0]] = pair[1]
		}
		return metadata
	}
	deleted := func(metadata metav1.ObjectMeta) metav1.ObjectMeta {
		metadata.DeletionTimestamp = ptr.To(metav1.NewTime(time.Unix(3, 0)))
		return metadata
	}
	serviceType := metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	wholeService := corev1.ServiceSpec{
		ClusterIP: "10.0.0.1",
		Selector:  map[string]string{"app": "web"},
		Ports:     []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}},
	}
	withoutManagedFields := *whole.DeepCopy()
	withoutManagedFields.ManagedFields = nil
	podStatus := corev1.PodStatus{
		Phase:                 corev1.PodPending,
		StartTime:             ptr.To(metav1.NewTime(time.Unix(1, 0))),
		Reason:                "Evicted",
		Message:               "m",
		Conditions:            []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}},
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "init"}},
		ContainerStatuses:     []corev1.ContainerStatus{{Name: "app"}},
	}
	wholePodStatus := *podStatus.DeepCopy()
	wholePodStatus.PodIP = "10.0.0.1"
	web := corev1.LocalObjectReference{Name: "web"}
	at := metav1.NewTime(time.Unix(2, 0))
	target := autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}

	attached := func(metadata metav1.ObjectMeta, status string) metav1.ObjectMeta {
		annotations := map[string]string{"k8s.v1.cni.cncf.io/network-status": status}
		maps.Copy(annotations, metadata.Annotations)
		metadata.Annotations = annotations
		return metadata
	}

	for _, row := range []struct {
		name         string
		object, want runtime.Object
	}{
		{
			"of the annotations of a Pod, its networks beside the network of the cluster are kept",
			&corev1.Pod{ObjectMeta: attached(whole, `[{"name":"cni0","default":true},{"name":"lan","dns":{}}]`)},
			&corev1.Pod{ObjectMeta: attached(metadata, `[{"name":"lan"}]`)},
		},
		{
			"of a Pod in the network of the cluster only, no annotation is kept",
			&corev1.Pod{ObjectMeta: attached(whole, `[{"name":"cni0","default":true}]`)},
			&corev1.Pod{ObjectMeta: metadata},
		},
		{
			"of a Pod, what selects it, its ConfigMaps, its claims and its status are kept",
			&corev1.Pod{ObjectMeta: withLabels(whole), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}, Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: web, DefaultMode: ptr.To[int32](0o644)}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "web-data", ReadOnly: true}}},
			}}, Status: wholePodStatus},
			&corev1.Pod{ObjectMeta: withLabels(metadata), Spec: corev1.PodSpec{Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: web}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "web-data"}}},
			}}, Status: podStatus},
		},
		{
			"of a Pod, the UID of its controller is kept",
			&corev1.Pod{ObjectMeta: controlledBy(whole, "ReplicaSet")},
			&corev1.Pod{ObjectMeta: ownedBy(metadata, metav1.OwnerReference{UID: "owner", Controller: ptr.To(true)})},
		},
		{
			"of a Pod, an owner that is not its controller is not kept",
			&corev1.Pod{ObjectMeta: ownedBy(whole, metav1.OwnerReference{Kind: "Node", Name: "node", UID: "owner"})},
			&corev1.Pod{ObjectMeta: metadata},
		},
		{
			"of a Service without the annotation, no more than which it is is kept",
			&corev1.Service{ObjectMeta: withLabels(whole), Spec: wholeService},
			&corev1.Service{TypeMeta: serviceType, ObjectMeta: metadata},
		},
		{
			"of a Service that says no, no more is kept either",
			&corev1.Service{ObjectMeta: annotated(whole, "ingress/http", "false"), Spec: wholeService},
			&corev1.Service{TypeMeta: serviceType, ObjectMeta: metadata},
		},
		{
			"of an annotated Service, what its Ingress is made of is kept, and whose it is",
			&corev1.Service{ObjectMeta: controlledBy(annotated(withLabels(whole), "ingress/http", "true", "ingress/host", "example.com", "model.github.com/adopt", "true"), "ModelBox"), Spec: wholeService},
			&corev1.Service{
				TypeMeta:   serviceType,
				ObjectMeta: controlledBy(annotated(metadata, "ingress/http", "true", "ingress/host", "example.com"), "ModelBox"),
				Spec:       corev1.ServiceSpec{Ports: wholeService.Ports},
			},
		},
		{
			"of an annotated Service, that it is going is kept",
			&corev1.Service{ObjectMeta: deleted(annotated(whole, "ingress/http", "yes"))},
			&corev1.Service{TypeMeta: serviceType, ObjectMeta: deleted(annotated(metadata, "ingress/http", "yes"))},
		},
		{
			"of a HorizontalPodAutoscaler, its target is kept",
			&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: withLabels(whole), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 5}},
			&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metadata, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target}},
		},
		{
			"of an Event, what it is about, note and times are kept",
			&eventsv1.Event{
				ObjectMeta: withLabels(whole), Type: corev1.EventTypeWarning, Reason: FailedMount, Note: "m",
				Regarding:               corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "web-1", UID: "pod"},
				EventTime:               metav1.NewMicroTime(at.Time),
				Series:                  &eventsv1.EventSeries{Count: 2},
				DeprecatedLastTimestamp: at,
			},
			&eventsv1.Event{
				ObjectMeta: metadata, Note: "m",
				Regarding:               corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "web-1", UID: "pod"},
				EventTime:               metav1.NewMicroTime(at.Time),
				Series:                  &eventsv1.EventSeries{Count: 2},
				DeprecatedLastTimestamp: at,
			},
		},
		{
			"of any other object, all but its managed fields is kept",
			&corev1.ConfigMap{ObjectMeta: *whole.DeepCopy(), Data: map[string]string{"key": "value"}},
			&corev1.ConfigMap{ObjectMeta: withoutManagedFields, Data: map[string]string{"key": "value"}},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			trimmed, err := trim(row.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, trimmed); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
