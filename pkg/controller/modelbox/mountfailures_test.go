// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// mountEvent is what a kubelet records about the pod of that name.
func mountEvent(name, pod, note string, at time.Time) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta:              metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault, UID: types.UID(name), ResourceVersion: "1"},
		Type:                    corev1.EventTypeWarning,
		Reason:                  "FailedMount",
		Regarding:               corev1.ObjectReference{Kind: "Pod", Namespace: metav1.NamespaceDefault, Name: pod, UID: types.UID(pod + "-uid")},
		Note:                    note,
		DeprecatedLastTimestamp: metav1.NewTime(at),
	}
}

// newPendingPod returns a pod of webBox that has a node and no sandbox yet.
func newPendingPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pending := func(pod *corev1.Pod) {
		pod.UID, pod.Status.Phase = types.UID(name+"-uid"), corev1.PodPending
		waiting("app", "ContainerCreating", "")(pod)
	}
	return newPod(name, append([]func(*corev1.Pod){pending}, changes...)...)
}

func TestReadyTellsOfFailedMounts(t *testing.T) {
	const missing = `MountVolume.SetUp failed for volume "config" : configmap "missing" not found`
	begin := time.Now()
	withSandbox := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}}
	}
	withoutSandbox := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse}}
	}
	waitsForInit := func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].State.Waiting.Reason = "PodInitializing" }
	runs := func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning }
	failed := conditions{ready: "False FailedMount"}

	for _, row := range []struct {
		name    string
		pod     *corev1.Pod
		events  []*eventsv1.Event
		want    conditions
		message string
	}{
		{"nothing is said", newPendingPod("web-1"), nil, conditions{}, "1 of 2 updated replicas are available"},
		{"a volume is missing", newPendingPod("web-1"), []*eventsv1.Event{mountEvent("a", "web-1", missing, begin)}, failed, "pod web-1: " + missing},
		{"a volume is missing before the sandbox is there", newPendingPod("web-1", withoutSandbox), []*eventsv1.Event{mountEvent("a", "web-1", missing, begin)},
			failed, "pod web-1: " + missing},
		{"the last that is said", newPendingPod("web-1"), []*eventsv1.Event{
			mountEvent("a", "web-1", "first", begin.Add(-time.Second)), mountEvent("b", "web-1", missing, begin), mountEvent("c", "web-1", "second", begin.Add(-time.Minute))},
			failed, "pod web-1: " + missing},
		{"an init container has to wait as well", newPendingPod("web-1", waitsForInit), []*eventsv1.Event{mountEvent("a", "web-1", missing, begin)},
			failed, "pod web-1: " + missing},
		{"it is about another pod", newPendingPod("web-1"), []*eventsv1.Event{mountEvent("a", "mail-1", missing, begin)}, conditions{}, "1 of 2 updated replicas are available"},
		{"the volume has come, and the image is being pulled", newPendingPod("web-1", withSandbox), []*eventsv1.Event{mountEvent("a", "web-1", missing, begin)},
			conditions{}, "1 of 2 updated replicas are available"},
		{"the volume has come, and the pod runs", newPendingPod("web-1", runs), []*eventsv1.Event{mountEvent("a", "web-1", missing, begin)},
			conditions{}, "1 of 2 updated replicas are available"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t))
			for _, event := range row.events {
				if err := f.mountEvents.Add(event); err != nil {
					t.Fatal(err)
				}
			}
			failures, err := f.mountFailures([]*corev1.Pod{row.pod})
			if err != nil {
				t.Fatal(err)
			}
			observed := withPods(complete(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }), row.pod)
			observed.MountFailures = failures
			got := status.ConditionsOf(fixture.WebBox(t), observed)
			check(t, "conditions", rollingOut.with(row.want), summarize(got))
			check(t, "message", row.message, meta.FindStatusCondition(got, modelv1.ConditionReady).Message)
		})
	}
}

func TestFailedMountEnqueuesTheBoxOfItsPod(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.cache(t, newPendingPod("web-1"), newPendingPod("other-1", func(pod *corev1.Pod) { pod.Labels = nil }))
	for _, row := range []struct {
		pod  string
		want bool
	}{{"web-1", true}, {"other-1", false}, {"unknown-1", false}} {
		box, got := f.boxOfPodEvent(mountEvent("a", row.pod, "m", time.Now()))
		if got != row.want || got && box != fixture.WebKey {
			t.Errorf("pod %s: got %v, %v", row.pod, box, got)
		}
	}
}
