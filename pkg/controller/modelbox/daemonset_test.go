// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// completeDaemonSet returns a DaemonSet on four nodes whose rollout is complete.
func completeDaemonSet(changes ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault, UID: "set", Generation: 5,
			Annotations: map[string]string{appsv1.DeprecatedTemplateGeneration: "2"}},
		Status: appsv1.DaemonSetStatus{
			ObservedGeneration: 5, DesiredNumberScheduled: 4, CurrentNumberScheduled: 4, UpdatedNumberScheduled: 4, NumberReady: 4, NumberAvailable: 4,
		},
	}
	for _, change := range changes {
		change(set)
	}
	return set
}

func daemonBox(t *testing.T) *modelv1.ModelBox {
	return fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Workload, box.Spec.Replicas = modelv1.WorkloadDaemonSet, nil })
}

func TestConditionsOfADaemonSet(t *testing.T) {
	unavailable := rollingOut.with(conditions{available: "False MinimumReplicasUnavailable"})
	for _, row := range []struct {
		name    string
		change  func(*appsv1.DaemonSet)
		want    conditions
		message string
	}{
		{"its rollout is complete", func(*appsv1.DaemonSet) {}, good, "4 of 4 replicas are available"},
		{"its spec is not observed", func(d *appsv1.DaemonSet) { d.Generation++ }, rollingOut, "waiting for the DaemonSet spec update to be observed"},
		{"it has never been observed", func(d *appsv1.DaemonSet) { d.Status = appsv1.DaemonSetStatus{} },
			rollingOut.with(conditions{available: "False Progressing"}), "waiting for the DaemonSet spec update to be observed"},
		{"pods are not updated", func(d *appsv1.DaemonSet) { d.Status.UpdatedNumberScheduled = 1 }, rollingOut, "1 out of 4 new replicas have been updated"},
		{"one pod is not available", func(d *appsv1.DaemonSet) { d.Status.NumberAvailable = 3 }, rollingOut, "3 of 4 updated replicas are available"},
		{"more pods are not available than an update may take away", func(d *appsv1.DaemonSet) { d.Status.NumberAvailable = 2 },
			unavailable, "2 of 4 updated replicas are available"},
		{"no more pods are not available than the strategy says", func(d *appsv1.DaemonSet) {
			d.Status.NumberAvailable = 2
			d.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: ptr.To(intstr.FromString("50%"))}
		}, rollingOut, "2 of 4 updated replicas are available"},
		{"a pod stays where none is to be", func(d *appsv1.DaemonSet) { d.Status.NumberMisscheduled = 1 }, good, "4 of 4 replicas are available"},
		{"no node matches", func(d *appsv1.DaemonSet) { d.Status = appsv1.DaemonSetStatus{ObservedGeneration: 5} }, good, "no node is to run a pod of the DaemonSet"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := status.ConditionsOf(daemonBox(t), &status.Observation{Workload: kinds.AsWorkload(completeDaemonSet(row.change))})
			check(t, "conditions", row.want, summarize(got))
			check(t, "message", row.message, messageOf(t, got, modelv1.ConditionReady))
		})
	}
}

func TestReplicasOfADaemonSetAreItsNodes(t *testing.T) {
	status := status.Of(daemonBox(t), &status.Observation{Workload: kinds.AsWorkload(completeDaemonSet(func(d *appsv1.DaemonSet) {
		d.Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: 6, CurrentNumberScheduled: 5, NumberMisscheduled: 2, UpdatedNumberScheduled: 4, NumberReady: 3, NumberAvailable: 1}
	}))})
	got := []int32{*status.DesiredReplicas, status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas}
	check(t, "desired, current, updated, ready and available replicas", []int32{6, 7, 4, 3, 1}, got)
}

func TestEarlierPodsOfADaemonSet(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := func(name, revision string, second time.Duration) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{appsv1.DefaultDaemonSetUniqueLabelKey: revision},
			CreationTimestamp: metav1.NewTime(begin.Add(second * time.Second))}}
	}
	own := []*corev1.Pod{pod("web-a", "new", 3), pod("web-b", "new", 2)}
	set := kinds.AsWorkload(completeDaemonSet())
	check(t, "its own", int32(0), set.EarlierPods(own))
	check(t, "one of before", int32(1), set.EarlierPods(append(own, pod("web-c", "old", 1))))
	check(t, "of another DaemonSet", int32(0), set.EarlierPods(append(own, pod("webs-c", "old", 1))))
	orphaned := pod("web-0", "old", 1)
	orphaned.Labels[appsv1.StatefulSetPodNameLabel] = orphaned.Name
	check(t, "of a StatefulSet of the name", int32(0), set.EarlierPods(append(own, orphaned)))
	none := kinds.AsWorkload(completeDaemonSet(func(d *appsv1.DaemonSet) { d.Status.DesiredNumberScheduled = 0 }))
	check(t, "any, although no node is to run one", int32(2), none.EarlierPods(own))
}

func TestDaemonSetIsNotScaled(t *testing.T) {
	f := newTestController(t, daemonBox(t))
	f.cache(t, autoscalerOf("apps/v1", "DaemonSet"), completeDaemonSet(func(set *appsv1.DaemonSet) {
		set.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	}))
	check(t, "scaling", modelboxrender.ScaledByBox, f.scaling(t, daemonBox(t)))
}
