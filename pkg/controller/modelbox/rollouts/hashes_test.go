// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/promquery"
)

func TestHashesOfAStatefulSet(t *testing.T) {
	for _, tc := range []struct {
		name            string
		current, update string
		stableName      string
		want            promquery.Hashes
	}{
		{"some pods are new", "web-1", "web-2", "web-1", promquery.Hashes{Stable: "web-1", Canary: "web-2"}},
		{"all pods are new", "web-2", "web-2", "web-1", promquery.Hashes{Stable: "web-1", Canary: "web-2"}},
		{"the stable revision has no name", "web-1", "web-2", "", promquery.Hashes{Stable: "web-1", Canary: "web-2"}},
		{"the stable revision has no name, and all pods are new", "web-2", "web-2", "", promquery.Hashes{Canary: "web-2"}},
		{"nothing is known", "", "", "", promquery.Hashes{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{CurrentRevision: tc.current, UpdateRevision: tc.update}}
			if got := statefulSetHashes(kinds.StatefulSet{StatefulSet: set}, tc.stableName); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestHashesOfADaemonSet(t *testing.T) {
	const template = 3 // what the DaemonSet has now
	set := kinds.DaemonSet{DaemonSet: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{
		Name: "web", UID: "set", Annotations: map[string]string{appsv1.DeprecatedTemplateGeneration: strconv.Itoa(template)},
	}}}
	newPod := func(generation int, hash string, age time.Duration) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			CreationTimestamp: metav1.NewTime(time.Unix(1_000_000, 0).Add(-age)),
			Labels:            map[string]string{TemplateGenerationLabel: strconv.Itoa(generation), appsv1.DefaultDaemonSetUniqueLabelKey: hash},
			OwnerReferences:   []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		}}
	}
	stable, former, candidate := newPod(1, "a", time.Hour), newPod(2, "b", time.Minute), newPod(template, "c", time.Second)
	for _, tc := range []struct {
		name       string
		stableName string
		pods       []*corev1.Pod
		want       promquery.Hashes
	}{
		{"some pods are new", "web-a", []*corev1.Pod{stable, candidate}, promquery.Hashes{Stable: "a", Canary: "c"}},
		{"all pods are new", "web-a", []*corev1.Pod{candidate}, promquery.Hashes{Stable: "a", Canary: "c"}},
		{"the stable revision has no name", "", []*corev1.Pod{candidate, former, stable}, promquery.Hashes{Stable: "a", Canary: "c"}},
		{"the stable revision has no name, and all pods are new", "", []*corev1.Pod{candidate}, promquery.Hashes{Canary: "c"}},
		{"no pod is new", "web-a", []*corev1.Pod{stable}, promquery.Hashes{Stable: "a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := daemonSetHashes(set, tc.stableName, tc.pods); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestNameOfTheStableRevision(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Generation: 5}}
	observed := &status.Observation{
		Workload: kinds.StatefulSet{StatefulSet: &appsv1.StatefulSet{}},
		Pods:     []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{appsv1.StatefulSetRevisionLabel: "web-1"}}}},
	}
	for _, tc := range []struct {
		name       string
		last, want modelv1.ModelBoxRolloutRevision
	}{
		{"another revision", modelv1.ModelBoxRolloutRevision{PodsHash: "old", Generation: 2, Name: "web-0"}, modelv1.ModelBoxRolloutRevision{PodsHash: "new", Generation: 5, Name: "web-1"}},
		{"the same revision", modelv1.ModelBoxRolloutRevision{PodsHash: "new", Generation: 2, Name: "web-0"}, modelv1.ModelBoxRolloutRevision{PodsHash: "new", Generation: 2, Name: "web-0"}},
		{"the same revision without a name", modelv1.ModelBoxRolloutRevision{PodsHash: "new", Generation: 2}, modelv1.ModelBoxRolloutRevision{PodsHash: "new", Generation: 2, Name: "web-1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := stableRevision(box, "new", &tc.last, observed); *got != tc.want {
				t.Errorf("got %+v, want %+v", *got, tc.want)
			}
		})
	}
}
