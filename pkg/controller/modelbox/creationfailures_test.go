// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// creationEvent is what the StatefulSet controller records about the StatefulSet of that UID.
func creationEvent(name string, uid types.UID, at time.Time) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta:              metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Regarding:               corev1.ObjectReference{Kind: "StatefulSet", Namespace: metav1.NamespaceDefault, Name: "web", UID: uid},
		Note:                    name,
		DeprecatedLastTimestamp: metav1.NewTime(at),
	}
}

func TestCreationFailureOfAStatefulSetIsTheLastEvent(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lacking := func(s *appsv1.StatefulSet) { s.Status.Replicas = 2 }
	podAt := func(at time.Time) []*corev1.Pod {
		return []*corev1.Pod{newPod("web-0", func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(at) })}
	}
	first, second := creationEvent("first", "set", begin), creationEvent("second", "set", begin.Add(time.Minute))
	for _, row := range []struct {
		name   string
		change func(*appsv1.StatefulSet)
		pods   []*corev1.Pod
		events []*eventsv1.Event
		want   *status.PodFailure
	}{
		{"nothing is said", lacking, nil, nil, nil},
		{"it lacks a pod", lacking, podAt(begin.Add(-time.Hour)), []*eventsv1.Event{second, first}, &status.PodFailure{Reason: "FailedCreate", Message: "second"}},
		{"it has its pods", func(*appsv1.StatefulSet) {}, nil, []*eventsv1.Event{first}, nil},
		{"a pod was created since", lacking, podAt(begin.Add(time.Hour)), []*eventsv1.Event{first}, nil},
		{"a pod was created in the same second", lacking, podAt(begin), []*eventsv1.Event{first}, &status.PodFailure{Reason: "FailedCreate", Message: "first"}},
		{"it is about an earlier one of the name", lacking, nil, []*eventsv1.Event{creationEvent("first", "another", begin)}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, statefulBox(t))
			for _, event := range row.events {
				if err := f.creationEvents.Add(event); err != nil {
					t.Fatal(err)
				}
			}
			got, err := f.creationFailure(kinds.AsWorkload(completeStatefulSet(row.change)), row.pods)
			if err != nil {
				t.Fatal(err)
			}
			if (got == nil) != (row.want == nil) || got != nil && *got != *row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestFailedCreateEnqueuesTheBoxOfItsWorkload(t *testing.T) {
	box := statefulBox(t)
	f := newTestController(t, box)
	set := completeStatefulSet(func(s *appsv1.StatefulSet) {
		s.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
		reference := render.OwnerReference(box, modelboxrender.Kind)
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: *reference.APIVersion, Kind: *reference.Kind, Name: *reference.Name, UID: *reference.UID, Controller: reference.Controller}}
	})
	f.cache(t, set)
	if got, ok := f.boxOfWorkloadEvent(creationEvent("a", "set", time.Now())); !ok || got != fixture.WebKey {
		t.Errorf("got %v, %v", got, ok)
	}
	other := creationEvent("a", "set", time.Now())
	other.Regarding.Name = "other"
	if got, ok := f.boxOfWorkloadEvent(other); ok {
		t.Errorf("an event about a StatefulSet without an owner is about box %v", got)
	}
}
