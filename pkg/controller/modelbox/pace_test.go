// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestMereProgress(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBoxStatus)
		want   bool
	}{
		{"numbers", func(s *modelv1.ModelBoxStatus) {
			s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.DesiredReplicas = 9, 9, 9, 9, ptr.To[int32](9)
		}, true},
		{"names of pods", func(s *modelv1.ModelBoxStatus) { s.PodNames, s.PodNamesOmitted = []string{"web-9"}, 1 }, true},
		{"what a condition says", func(s *modelv1.ModelBoxStatus) { s.Conditions[0].Message = "1 of 2" }, true},
		{"the reason of a condition", func(s *modelv1.ModelBoxStatus) { s.Conditions[0].Reason = "CrashLoopBackOff" }, false},
		{"the status of a condition", func(s *modelv1.ModelBoxStatus) { s.Conditions[0].Status = metav1.ConditionTrue }, false},
		{"the generation of a condition", func(s *modelv1.ModelBoxStatus) { s.Conditions[0].ObservedGeneration = 9 }, false},
		{"another condition", func(s *modelv1.ModelBoxStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: "Stalled"})
		}, false},
		{"the generation", func(s *modelv1.ModelBoxStatus) { s.ObservedGeneration = 9 }, false},
		{"the address", func(s *modelv1.ModelBoxStatus) { s.Address = "web.default.svc:81" }, false},
		{"a node port", func(s *modelv1.ModelBoxStatus) { s.NodePorts = []modelv1.NodePort{{Port: 80, NodePort: 30010}} }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := modelv1.ModelBoxStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Progressing"}}}
			after := *before.DeepCopy()
			row.change(&after)
			if got := isMereProgress(&before, &after); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestProgressIsToldAtItsPace(t *testing.T) {
	f := newFixture(t, webBox(t))
	clock := testingclock.NewFakePassiveClock(time.Now())
	f.pace = newStatusPace(clock)
	f.converge(t)
	writes := 0
	// A pod is ready every half second.
	const pods = 20
	for ready := range int32(pods) {
		clock.SetTime(clock.Now().Add(500 * time.Millisecond))
		deployment := f.deployment(t)
		deployment.Status.ReadyReplicas = ready + 1
		if _, err := f.cluster.AppsV1().Deployments(webKey.Namespace).UpdateStatus(t.Context(), deployment, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.catchUp(t)
		delay := f.mustReconcile(t)
		wrote := len(f.requests())
		if wrote == 0 && (delay <= 0 || delay > progressPeriod) {
			t.Errorf("what is put off is to be looked at again after %s", delay)
		}
		writes += wrote
	}
	check(t, "writes of the status in ten seconds", 5, writes)
	clock.SetTime(clock.Now().Add(progressPeriod))
	f.mustReconcile(t)
	check(t, "the last number", int32(pods), f.boxInServer(t).Status.ReadyReplicas)
}
