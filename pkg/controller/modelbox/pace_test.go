// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

func TestIsMereProgress(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBoxStatus)
		want   bool
	}{
		{"numbers", func(s *modelv1.ModelBoxStatus) {
			s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, s.DesiredReplicas = 9, 9, 9, 9, ptr.To[int32](9)
		}, true},
		{"names of pods", func(s *modelv1.ModelBoxStatus) { s.PodNames, s.PodNamesOmitted = []string{"web-9"}, 1 }, true},
		{"networks of pods", func(s *modelv1.ModelBoxStatus) {
			s.PodNetworks = []modelv1.PodNetwork{{Pod: "web-9", Network: "lan"}}
		}, true},
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
			if got := status.IsMereProgress(&before, &after); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestStatusOfProgressIsWrittenAtItsPace(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	clock := testingclock.NewFakePassiveClock(time.Now())
	f.Pace = reconciler.NewStatusPace(clock)
	f.converge(t)
	writes := 0
	// A pod is ready every half second.
	const pods = 20
	for ready := range int32(pods) {
		clock.SetTime(clock.Now().Add(500 * time.Millisecond))
		f.setReady(t, ready+1)
		delay := f.mustReconcile(t)
		wrote := len(f.requests())
		if wrote == 0 && (delay <= 0 || delay > reconciler.ProgressPeriod) {
			t.Errorf("what is put off is to be looked at again after %s", delay)
		}
		writes += wrote
	}
	check(t, "writes of the status in ten seconds", 5, writes)
	clock.SetTime(clock.Now().Add(reconciler.ProgressPeriod))
	f.mustReconcile(t)
	check(t, "the last number", int32(pods), f.boxInServer(t).Status.ReadyReplicas)
}

// A child that fails is tried again after a delay that grows to minutes. The status of its pods is reported as soon as for any
// other box.
func TestStatusOfProgressIsWrittenBesideAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTestController(t, fixture.WebBox(t))
		defer f.Queue.ShutDown()
		f.cluster.PrependReactor("patch", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("refused")
		})
		// It has failed so often that the next try is in five minutes.
		for range 20 {
			f.Queue.AddRateLimited(fixture.WebKey)
		}
		f.ReconcileNext(t.Context())
		f.catchUp(t)

		f.setReady(t, 1)
		f.Queue.Add(fixture.WebKey)
		f.ReconcileNext(t.Context())
		f.catchUp(t)
		check(t, "the number that is put off", int32(0), f.boxInServer(t).Status.ReadyReplicas)

		begin := time.Now()
		f.ReconcileNext(t.Context())
		check(t, "the number in the end", int32(1), f.boxInServer(t).Status.ReadyReplicas)
		if took := time.Since(begin); took > reconciler.ProgressPeriod {
			t.Errorf("it was reported after %s, want %s at most", took, reconciler.ProgressPeriod)
		}

		// No status is put off, and the child is still tried again.
		begin = time.Now()
		f.catchUp(t)
		f.ReconcileNext(t.Context())
		check(t, "requests", []string{"get services web", "patch services web"}, f.requests())
		check(t, "the child is tried again after", 5*time.Minute, time.Since(begin))
	})
}

// setReady lets the Deployment report that many ready pods, and the caches see it.
func (f *testController) setReady(t *testing.T, ready int32) {
	t.Helper()
	deployment := f.deployment(t)
	deployment.Status.ReadyReplicas = ready
	if _, err := f.cluster.AppsV1().Deployments(fixture.WebKey.Namespace).UpdateStatus(t.Context(), deployment, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
}
