// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

const livenessNote = "Liveness probe failed: HTTP probe failed with statuscode: 500"

// restarted returns a pod whose container is ready again after that many restarts. It ran for 40 seconds each time.
func restarted(now time.Time, ago time.Duration, restarts int32, changes ...func(*corev1.Pod)) *corev1.Pod {
	return newPod("web-1", append([]func(*corev1.Pod){func(pod *corev1.Pod) {
		pod.UID = "pod"
		begin := now.Add(-ago)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name:         "web",
			Ready:        true,
			RestartCount: restarts,
			State:        corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(begin)}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Reason: "Completed", StartedAt: metav1.NewTime(begin.Add(-50 * time.Second)), FinishedAt: metav1.NewTime(begin.Add(-10 * time.Second))}},
		}}
	}}, changes...)...)
}

func notReady(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Ready = false }

func neverEnded(pod *corev1.Pod) {
	pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = nil
}

func asInitContainer(pod *corev1.Pod) {
	pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
}

// unhealthy returns an event of the pod of restarted.
func unhealthy(now time.Time, changes ...func(*eventsv1.Event)) *eventsv1.Event {
	event := &eventsv1.Event{
		ObjectMeta:              metav1.ObjectMeta{Name: "web-1.1", Namespace: fixture.WebKey.Namespace},
		Regarding:               corev1.ObjectReference{Kind: "Pod", Name: "web-1", Namespace: fixture.WebKey.Namespace, UID: "pod", FieldPath: "spec.containers{web}"},
		Reason:                  "Unhealthy",
		Note:                    livenessNote,
		DeprecatedLastTimestamp: metav1.NewTime(now.Add(-time.Minute)),
	}
	for _, change := range changes {
		change(event)
	}
	return event
}

// withLivenessProbe gives the container of a Deployment one.
func withLivenessProbe(d *appsv1.Deployment) {
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", LivenessProbe: &corev1.Probe{}}}
}

func TestLivenessFailures(t *testing.T) {
	now := time.Now()
	const want = "its liveness probe failed: HTTP probe failed with statuscode: 500"
	for _, row := range []struct {
		name     string
		pod      *corev1.Pod
		workload func(*appsv1.Deployment)
		event    func(*eventsv1.Event)
		want     string
		asked    bool
	}{
		{"of the container", restarted(now, time.Second, 3), withLivenessProbe, func(*eventsv1.Event) {}, want, true},
		{"of another container", restarted(now, time.Second, 3), withLivenessProbe,
			func(event *eventsv1.Event) { event.Regarding.FieldPath = "spec.containers{proxy}" }, "", true},
		{"of another pod", restarted(now, time.Second, 3), withLivenessProbe, func(event *eventsv1.Event) { event.Regarding.UID = "former" }, "", true},
		{"of another probe", restarted(now, time.Second, 3), withLivenessProbe,
			func(event *eventsv1.Event) { event.Note = "Readiness probe failed: no" }, "", true},
		{"long ago", restarted(now, time.Second, 3), withLivenessProbe,
			func(event *eventsv1.Event) { event.DeprecatedLastTimestamp = metav1.NewTime(now.Add(-time.Hour)) }, "", true},
		{"of a container that was restarted once, and is ready", restarted(now, time.Second, 1), withLivenessProbe, func(*eventsv1.Event) {}, "", false},
		{"of a container that was restarted once, and is not ready", restarted(now, time.Second, 1, notReady), withLivenessProbe, func(*eventsv1.Event) {}, want, true},
		{"of a container that was never restarted", restarted(now, time.Second, 0, neverEnded), withLivenessProbe, func(*eventsv1.Event) {}, "", false},
		{"of an init container that keeps running", restarted(now, time.Second, 3, asInitContainer), func(d *appsv1.Deployment) {
			withLivenessProbe(d)
			spec := &d.Spec.Template.Spec
			spec.InitContainers, spec.Containers = spec.Containers, nil
		}, func(event *eventsv1.Event) { event.Regarding.FieldPath = "spec.initContainers{web}" }, want, true},
		{"of a container that has recovered", restarted(now, 2*time.Minute, 3), withLivenessProbe, func(*eventsv1.Event) {}, "", false},
		{"of a container without a liveness probe", restarted(now, time.Second, 3), func(*appsv1.Deployment) {}, func(*eventsv1.Event) {}, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, nil, unhealthy(now, row.event))
			for range 2 { // It is asked for once.
				failures := f.livenessFailures(t.Context(), fixture.WebKey, kinds.AsWorkload(completeDeployment(row.workload)), []*corev1.Pod{row.pod})
				check(t, "failure", row.want, failures[status.ContainerID{Pod: "pod", Name: "web"}])
			}
			var requests []string
			if row.asked {
				requests = []string{"list events"}
			}
			check(t, "requests", requests, f.requests())
		})
	}
}

// A kubelet that has sent many events about a pod holds back more of them.
func TestLivenessFailureStaysUntilSomethingElseIsSaid(t *testing.T) {
	now := time.Now()
	f := newTestController(t, nil, unhealthy(now))
	workload := kinds.AsWorkload(completeDeployment(withLivenessProbe))
	failures := func(pods ...*corev1.Pod) int {
		return len(f.livenessFailures(t.Context(), fixture.WebKey, workload, pods))
	}
	check(t, "failures", 1, failures(restarted(now, time.Second, 3)))
	f.cluster.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("too many requests")
	})
	check(t, "failures after another restart", 1, failures(restarted(now, time.Second, 4)))
	check(t, "failures once it has recovered", 0, failures(restarted(now, time.Hour, 4)))
	check(t, "failures of the next row of restarts", 0, failures(restarted(now, time.Second, 5)))
}

// The pod is ready between two restarts, and its Deployment takes the rollout for complete.
func TestReadySettlesWhileALivenessProbeFails(t *testing.T) {
	begin := time.Now()
	f := newTestController(t, nil, unhealthy(begin))
	clock := testingclock.NewFakePassiveClock(begin)
	f.Clock = clock
	box := fixture.WebBox(t)
	// observe returns why the box is or is not ready once its status was computed, and keeps that as its last one.
	observe := func(at time.Time, pod *corev1.Pod) string {
		clock.SetTime(at)
		workload := kinds.AsWorkload(completeDeployment(withLivenessProbe, func(d *appsv1.Deployment) {
			if !pod.Status.ContainerStatuses[0].Ready {
				d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1
			}
		}))
		pods := []*corev1.Pod{pod}
		status := status.Of(box, &status.Observation{
			Workload: workload, Pods: pods, Now: at, LivenessFailures: f.livenessFailures(t.Context(), fixture.WebKey, workload, pods)})
		f.recordTransitions(box, &status)
		box.Status = status
		return meta.FindStatusCondition(status.Conditions, modelv1.ConditionReady).Reason
	}
	const again = "pod web-1, container web: runs again; restarted 2 times, last exit code 0 (Completed); its liveness probe failed: HTTP probe failed with statuscode: 500"

	at := begin
	for restarts := int32(2); restarts < 6; restarts++ { // It is ended after 40 seconds, and runs again 10 seconds later.
		for _, ran := range []time.Duration{time.Second, 35 * time.Second} {
			check(t, "ready", "CrashLoopBackOff", observe(at.Add(ran), restarted(at.Add(ran), ran, restarts)))
			if restarts == 2 {
				check(t, "message", again, messageOf(t, box.Status.Conditions, modelv1.ConditionReady))
			}
		}
		ended := restarted(at.Add(40*time.Second), 40*time.Second, restarts, notReady, func(pod *corev1.Pod) {
			state := &pod.Status.ContainerStatuses[0].State
			state.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: state.Running.StartedAt, FinishedAt: metav1.NewTime(at.Add(40 * time.Second))}
			state.Running = nil
		})
		check(t, "ready after the end", "CrashLoopBackOff", observe(at.Add(40*time.Second), ended))
		at = at.Add(50 * time.Second)
	}
	check(t, "events", []string{"Warning CrashLoopBackOff " + again}, f.told())

	for _, look := range []struct {
		ran  time.Duration
		want string
	}{{time.Second, "CrashLoopBackOff"}, {69 * time.Second, "CrashLoopBackOff"}, {70 * time.Second, "Ready"}, {time.Hour, "Ready"}} {
		check(t, fmt.Sprintf("ready after %s", look.ran), look.want, observe(at.Add(look.ran), restarted(at.Add(look.ran), look.ran, 6)))
	}
	if told := f.told(); len(told) != 1 || !strings.HasPrefix(told[0], "Normal PodsRecovered Pods recovered from CrashLoopBackOff") {
		t.Errorf("events: got %q", told)
	}
}

func TestContainerThatHasNotRecoveredIsLookedAtAgain(t *testing.T) {
	now := time.Now()
	found := status.FindPodFailures(fixture.WebBox(t), &status.Observation{Pods: []*corev1.Pod{restarted(now, time.Minute, 3)}, Now: now})
	check(t, "recheck after", 10*time.Second, found.RecheckAfter)
}
