// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func TestFindPodFailures(t *testing.T) {
	crashed := func(pod *corev1.Pod) {
		waiting("app", "CrashLoopBackOff", "back-off 10s restarting failed container")(pod)
		status := &pod.Status.ContainerStatuses[0]
		status.RestartCount = 4
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137}
	}
	unscheduled := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available",
		}}
	}
	gated := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated, Message: "waiting for gates",
		}}
	}
	initWaiting := func(pod *corev1.Pod) {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: "prepare", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"}},
		}}
	}

	now := time.Now()
	// started adds a container that was started so long ago and has ended so often.
	started := func(ago time.Duration, isStarted bool, restarts int32, last *corev1.ContainerStateTerminated) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
				Name:                 "app",
				Started:              &isStarted,
				State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-ago))}},
				LastTerminationState: corev1.ContainerState{Terminated: last},
				RestartCount:         restarts,
			})
		}
	}
	ended := func(code int32, reason string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "app", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}},
			}}
		}
	}
	ready := func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Ready = true }
	inPod := func(ago time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Status.StartTime = &metav1.Time{Time: now.Add(-ago)} }
	}

	for _, row := range []struct {
		name string
		pods []*corev1.Pod
		want *status.PodFailure
	}{
		{"no pods do not fail", nil, nil},
		{"a running pod does not fail", []*corev1.Pod{newPod("web-1")}, nil},
		{"a container that is being created does not fail", []*corev1.Pod{newPod("web-1", waiting("app", "ContainerCreating", ""))}, nil},
		{"a container that waits for an init container does not fail", []*corev1.Pod{newPod("web-1", waiting("app", "PodInitializing", ""))}, nil},
		{"a container that has ended does not fail", []*corev1.Pod{newPod("web-1", func(pod *corev1.Pod) {
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
		})}, nil},
		{"an image that cannot be pulled", []*corev1.Pod{newPod("web-1", waiting("app", "ImagePullBackOff", "no such image"))},
			&status.PodFailure{Reason: "ImagePullBackOff", Message: "pod web-1, container app: no such image"}},
		{"a reason without a message is its own message", []*corev1.Pod{newPod("web-1", waiting("app", "ErrImagePull", ""))},
			&status.PodFailure{Reason: "ErrImagePull", Message: "pod web-1, container app: ErrImagePull"}},
		{"a crash has its exit code", []*corev1.Pod{newPod("web-1", crashed)},
			&status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: back-off 10s restarting failed container; restarted 4 times, last exit code 137"}},
		{"a crash loop has why the container ended", []*corev1.Pod{newPod("web-1", waiting("app", "CrashLoopBackOff", "back-off"), func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[0].RestartCount = 1
			pod.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
		})}, &status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: back-off; restarted once, last exit code 137 (OOMKilled)"}},
		{"a container whose end the runtime did not see", []*corev1.Pod{
			newPod("web-1", started(time.Second, true, 1, &corev1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown"}))},
			&status.PodFailure{Reason: "Error", Message: "pod web-1, container app: runs again and is not ready yet; restarted once, last exit code 255"}},
		{"a container beside the main one", []*corev1.Pod{newPod("web-1", waiting("proxy", "InvalidImageName", "bad name"))},
			&status.PodFailure{Reason: "InvalidImageName", Message: "pod web-1, container proxy: bad name"}},
		{"an init container holds up the others", []*corev1.Pod{newPod("web-1", initWaiting, waiting("app", "PodInitializing", ""))},
			&status.PodFailure{Reason: "ErrImagePull", Message: "pod web-1, container prepare: not found"}},
		{"a pod that no node takes", []*corev1.Pod{newPod("web-1", unscheduled)},
			&status.PodFailure{Reason: "Unschedulable", Message: "pod web-1: 0/3 nodes are available"}},
		{"a reason that is not in the order is reported when there is no other", []*corev1.Pod{newPod("web-1", gated)},
			&status.PodFailure{Reason: "SchedulingGated", Message: "pod web-1: waiting for gates"}},
		{"a reason that is not in the order comes last", []*corev1.Pod{newPod("web-1", gated), newPod("web-2", unscheduled)},
			&status.PodFailure{Reason: "Unschedulable", Message: "pod web-2: 0/3 nodes are available"}},
		{"what does not go away by waiting comes first", []*corev1.Pod{
			newPod("web-1", unscheduled), newPod("web-2", crashed), newPod("web-3", waiting("app", "CreateContainerConfigError", "no such secret"))},
			&status.PodFailure{Reason: "CreateContainerConfigError", Message: "pod web-3, container app: no such secret"}},
		{"the worst container of a pod", []*corev1.Pod{newPod("web-1", waiting("a", "CrashLoopBackOff", "back-off"), waiting("b", "InvalidImageName", "bad name"))},
			&status.PodFailure{Reason: "InvalidImageName", Message: "pod web-1, container b: bad name"}},
		{"a container that has just crashed", []*corev1.Pod{newPod("web-1", ended(3, "Error"))},
			&status.PodFailure{Reason: "Error", Message: "pod web-1, container app: ended with exit code 3"}},
		{"a container that has used too much memory", []*corev1.Pod{newPod("web-1", ended(137, "OOMKilled"))},
			&status.PodFailure{Reason: "OOMKilled", Message: "pod web-1, container app: ended with exit code 137"}},
		{"a container that runs again after a crash", []*corev1.Pod{
			newPod("web-1", started(time.Second, true, 1, &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}))},
			&status.PodFailure{Reason: "OOMKilled", Message: "pod web-1, container app: runs again and is not ready yet; restarted once, last exit code 137"}},
		{"a container that runs again after several crashes", []*corev1.Pod{
			newPod("web-1", started(time.Second, true, 2, &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}))},
			&status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: runs again; restarted 2 times, last exit code 137 (OOMKilled)"}},
		{"a container that is ready for a moment between crashes", []*corev1.Pod{
			newPod("web-1", started(29*time.Second, true, 2, &corev1.ContainerStateTerminated{ExitCode: 1}), ready)},
			&status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: runs again; restarted 2 times, last exit code 1"}},
		{"a container that has recovered", []*corev1.Pod{
			newPod("web-1", started(30*time.Second, true, 2, &corev1.ContainerStateTerminated{ExitCode: 1}), ready)}, nil},
		{"a container that has not run for longer than before", []*corev1.Pod{
			newPod("web-1", started(69*time.Second, true, 3, &corev1.ContainerStateTerminated{
				StartedAt: metav1.NewTime(now.Add(-2 * time.Minute)), FinishedAt: metav1.NewTime(now.Add(-80 * time.Second))}), ready)},
			&status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: runs again; restarted 3 times, last exit code 0"}},
		{"a container that has run for longer than before", []*corev1.Pod{
			newPod("web-1", started(70*time.Second, true, 3, &corev1.ContainerStateTerminated{
				StartedAt: metav1.NewTime(now.Add(-2 * time.Minute)), FinishedAt: metav1.NewTime(now.Add(-80 * time.Second))}), ready)}, nil},
		{"a container that ran for long between two crashes", []*corev1.Pod{
			newPod("web-1", started(time.Second, true, 2, &corev1.ContainerStateTerminated{
				ExitCode: 1, StartedAt: metav1.NewTime(now.Add(-11 * time.Minute)), FinishedAt: metav1.NewTime(now.Add(-time.Minute))}))},
			&status.PodFailure{Reason: "Error", Message: "pod web-1, container app: runs again and is not ready yet; restarted 2 times, last exit code 1"}},
		{"a container that has crashed again", []*corev1.Pod{newPod("web-1", ended(3, "Error"), func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[0].RestartCount = 1
		})}, &status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: ended with exit code 3"}},
		{"a container that ends again and again although nothing fails", []*corev1.Pod{newPod("web-1", ended(0, "Completed"), func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[0].RestartCount = 1
		})}, &status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: ended with exit code 0"}},
		{"an init container that runs again after several crashes", []*corev1.Pod{newPod("web-1", func(pod *corev1.Pod) {
			started(time.Second, false, 2, &corev1.ContainerStateTerminated{ExitCode: 1})(pod)
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
		})}, &status.PodFailure{Reason: "CrashLoopBackOff", Message: "pod web-1, container app: runs again; restarted 2 times, last exit code 1"}},
		{"an init container that has just failed", []*corev1.Pod{newPod("web-1", func(pod *corev1.Pod) {
			ended(1, "Error")(pod)
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
		})}, &status.PodFailure{Reason: "Error", Message: "pod web-1, container app: ended with exit code 1"}},
		{"an init container that takes its time does not fail", []*corev1.Pod{newPod("web-1", func(pod *corev1.Pod) {
			started(time.Hour, true, 0, nil)(pod)
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = pod.Status.ContainerStatuses, nil
		})}, nil},
		{"a container that has just started does not fail", []*corev1.Pod{newPod("web-1", started(29*time.Second, true, 0, nil))}, nil},
		{"a container that does not get ready", []*corev1.Pod{newPod("web-1", started(30*time.Second, true, 0, nil))},
			&status.PodFailure{Reason: "ContainersNotReady", Message: "pod web-1, container app: still not ready after 30s: its readiness probe does not succeed"}},
		{"a container that does not get started", []*corev1.Pod{newPod("web-1", started(time.Hour, false, 0, nil))},
			&status.PodFailure{Reason: "ContainersNotReady", Message: "pod web-1, container app: still not ready after 30s: its startup probe does not succeed"}},
		{"a container that has been ready for long does not fail", []*corev1.Pod{newPod("web-1", started(time.Hour, true, 3, nil), ready)}, nil},
		{"a container that waits for its volumes", []*corev1.Pod{newPod("web-1", inPod(time.Minute), waiting("app", "ContainerCreating", ""))},
			&status.PodFailure{Reason: "ContainerCreating", Message: "pod web-1, container app: still being created after 30s"}},
		{"a pod that a scheduler without a word does not take", []*corev1.Pod{newPod("web-1", func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no"}}
		})}, &status.PodFailure{Reason: "Unschedulable", Message: "pod web-1: no"}},
		{"the first pod of several with the same failure", []*corev1.Pod{
			newPod("web-1"), newPod("web-2", waiting("app", "ErrImagePull", "two")), newPod("web-3", waiting("app", "ErrImagePull", "three"))},
			&status.PodFailure{Reason: "ErrImagePull", Message: "pod web-2, container app: two"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, status.FindPodFailures(fixture.WebBox(t), &status.Observation{Pods: row.pods, Now: now}).Worst, cmp.AllowUnexported(status.PodFailure{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFindPodFailuresAsksForARecheck(t *testing.T) {
	now := time.Now()
	running := func(name string, ago time.Duration) *corev1.Pod {
		return newPod(name, func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-ago))}},
			}}
		})
	}
	for _, row := range []struct {
		name string
		pods []*corev1.Pod
		want time.Duration
	}{
		{"no pods", nil, 0},
		{"a pod that is young", []*corev1.Pod{running("web-1", 10*time.Second)}, 20 * time.Second},
		{"the oldest of several", []*corev1.Pod{running("web-1", 10*time.Second), running("web-2", 25*time.Second)}, 5 * time.Second},
		{"a pod that is old", []*corev1.Pod{running("web-1", time.Minute)}, 0},
	} {
		check(t, row.name, row.want, status.FindPodFailures(fixture.WebBox(t), &status.Observation{Pods: row.pods, Now: now}).RecheckAfter)
	}
}

func TestReconcileRequeuesWhilePodsTakeTheirTime(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.converge(t)
	f.cache(t, newPod("web-1", func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
		}}
	}))
	f.Pace.Forget(fixture.WebKey)
	if after := f.mustReconcile(t); after <= 0 || after > status.StartTimeout {
		t.Errorf("it is looked at again after %s, want at most %s", after, status.StartTimeout)
	}
}
