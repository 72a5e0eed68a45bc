// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// conditionOf returns the reason and the message of a condition.
func conditionOf(t *testing.T, conditions []metav1.Condition, conditionType string) string {
	t.Helper()
	condition := meta.FindStatusCondition(conditions, conditionType)
	if condition == nil {
		t.Fatalf("there is no condition %s", conditionType)
	}
	return condition.Reason + ": " + condition.Message
}

func TestMessageOfAFailedRollout(t *testing.T) {
	const (
		failed    = "the rollout has failed: CrashLoopBackOff: m"
		goOn      = `; to continue, change the spec, or run "kubectl modelbox retry web" or "kubectl modelbox rollback web"`
		available = "2 of 2 replicas are available"
	)
	rollout := func(phase modelv1.RolloutPhase, reason string) *modelv1.ModelBoxRolloutStatus {
		return &modelv1.ModelBoxRolloutStatus{Phase: phase, Reason: reason, Message: "m", PodsHash: "new",
			Stable: &modelv1.ModelBoxRolloutRevision{Name: "web-1", Generation: 1, PodsHash: "old"}}
	}
	progressing := func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }
	rolledBack := rollout(modelv1.RolloutRolledBack, "CrashLoopBackOff")
	for _, row := range []struct {
		name       string
		last, now  *modelv1.ModelBoxRolloutStatus
		deployment []func(*appsv1.Deployment)
		want       string
	}{
		{"failed", nil, rollout(modelv1.RolloutFailed, "CrashLoopBackOff"), nil, "RolloutFailed: " + failed + goOn},
		{"failed at its deadline", nil, rollout(modelv1.RolloutFailed, modelv1.ReasonProgressDeadlineExceeded), nil,
			"ProgressDeadlineExceeded: the rollout has failed: ProgressDeadlineExceeded: m" + goOn},
		{"paused", nil, rollout(modelv1.RolloutPaused, "CrashLoopBackOff"), nil, "RolloutFailed: " + failed + "; no further pod gets the new revision" + goOn},
		{"rolled back", rolledBack, rolledBack, nil, "RolledBack: " + failed + "; rolled back to revision web-1 of generation 1: " + available + goOn},
		{"a rollback that was just decided", nil, rolledBack, nil, "Progressing: " + failed + "; rolling back to revision web-1 of generation 1: " + available + goOn},
		{"a rollback that continues", rolledBack, rolledBack, []func(*appsv1.Deployment){progressing},
			"Progressing: " + failed + "; rolling back to revision web-1 of generation 1: 1 out of 2 new replicas have been updated" + goOn},
		{"a rollout after the deadline of the Deployment that is tried again", nil, rollout(modelv1.RolloutProgressing, ""), []func(*appsv1.Deployment){progressing, func(d *appsv1.Deployment) {
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "too late"}}
		}}, "Progressing: the rollout is tried again: too late"},
	} {
		t.Run(row.name, func(t *testing.T) {
			observed := complete(row.deployment...)
			observed.Rollout.Status = row.now
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) {
				box.Spec.Rollout, box.Status.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback}, row.last
			})
			check(t, "Progressing", row.want, conditionOf(t, status.ConditionsOf(box, observed), modelv1.ConditionProgressing))
		})
	}
}

func TestMessageOfAResizeThatBecameARollout(t *testing.T) {
	observed := complete(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 })
	observed.Resize.Status = &modelv1.ModelBoxResizeStatus{Phase: modelv1.ResizeRestarting, Reason: "Infeasible", Message: "the node is too small"}
	got := conditionOf(t, status.ConditionsOf(fixture.WebBox(t), observed), modelv1.ConditionProgressing)
	check(t, "Progressing", "Progressing: 1 out of 2 new replicas have been updated; the pods could not be resized in place: Infeasible: the node is too small", got)
}

func TestPodsThatMakeProgressAreNoFailure(t *testing.T) {
	observed := complete(func(d *appsv1.Deployment) {
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "too late"}}
	})
	observed.CreationFailure = &status.PodFailure{Reason: modelv1.ReasonProgressing, Message: "pods are created"}
	check(t, "Ready", "ProgressDeadlineExceeded: too late", conditionOf(t, status.ConditionsOf(fixture.WebBox(t), observed), modelv1.ConditionReady))
}

func TestDescriptionOfAStep(t *testing.T) {
	for _, row := range []struct {
		name        string
		rolloutType modelv1.RolloutType
		weight      int32
		isRouted    bool
		want        string
	}{
		{"the number of pods rounds the weight", modelv1.RolloutCanary, 25, false, "step 1 of 1 (weight 25)"},
		{"a route leads the traffic", modelv1.RolloutCanary, 25, true, "step 1 of 1: 25% of the traffic for the new revision"},
		{"blue-green", modelv1.RolloutBlueGreen, 0, false, "step 1 of 1: the new revision without traffic"},
		{"blue-green with a route", modelv1.RolloutBlueGreen, 0, true, "step 1 of 1: the new revision without traffic"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, func(box *modelv1.ModelBox) {
				box.Spec.Rollout = &modelv1.ModelBoxRollout{Type: &row.rolloutType, Steps: []modelv1.ModelBoxRolloutStep{{Weight: row.weight, Pause: "5m"}}}
				if row.isRouted {
					box.Spec.Route = &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}}
				}
			})
			check(t, "step", row.want, status.DescribeStep(box, 1))
		})
	}
}

func TestContainersOfAJobThatHaveEnded(t *testing.T) {
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Workload = modelv1.WorkloadJob })
	for _, row := range []struct {
		name               string
		exitCode, restarts int32
		want               string
	}{
		{"a success", 0, 0, ""},
		{"a success after failures", 0, 3, ""},
		{"a failure", 3, 0, ""},
		{"a failure after failures", 3, 3, "pod web-1, container app: ended with exit code 3"},
	} {
		t.Run(row.name, func(t *testing.T) {
			pod := newPod("web-1", ofJob("web"), func(pod *corev1.Pod) {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", RestartCount: row.restarts,
					State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: row.exitCode, Reason: "Error"}}}}
			})
			got := ""
			if worst := status.FindPodFailures(box, &status.Observation{Pods: []*corev1.Pod{pod}}).Worst; worst != nil {
				got = worst.Message
			}
			check(t, "failure", row.want, got)
		})
	}
}

func TestPodsOfAnOrphanedWorkloadAreNotOfAJob(t *testing.T) {
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.Workload = modelv1.WorkloadCronJob })
	pod := newPod("web-0", waiting("app", "ImagePullBackOff", "Back-off pulling image"))
	if worst := status.FindPodFailures(box, &status.Observation{Pods: []*corev1.Pod{pod}}).Worst; worst != nil {
		t.Errorf("a pod without a Job is a failure of the box: %s", worst.Message)
	}
	ofJob("web-29735040")(pod)
	if worst := status.FindPodFailures(box, &status.Observation{Pods: []*corev1.Pod{pod}}).Worst; worst == nil {
		t.Error("a pod of a Job is no failure of the box")
	}
}

func TestSuspendIsAboutCronJobsOnly(t *testing.T) {
	box := fixture.WebBox(t, func(box *modelv1.ModelBox) { box.Spec.CronJob = &modelv1.ModelBoxCronJobSpec{Suspend: ptr.To(true)} })
	check(t, "Ready", "Ready: 2 of 2 replicas are available", conditionOf(t, status.ConditionsOf(box, complete()), modelv1.ConditionReady))
}

func TestLastingFailureOf(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	container := func(restarts int32, isReady bool, state corev1.ContainerState, last *corev1.ContainerStateTerminated) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "app", RestartCount: restarts, Ready: isReady, State: state, LastTerminationState: corev1.ContainerState{Terminated: last},
			}}
		}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	crash, outOfMemory := &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}, &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
	const stuck, missing = `MountVolume.SetUp failed for volume "a": timed out`, `MountVolume.SetUp failed for volume "a": configmap "a" not found`
	mounting := func(uid types.UID) *corev1.Pod {
		return newPod("web-1", waiting("app", "ContainerCreating", ""), func(pod *corev1.Pod) {
			pod.UID, pod.Status.StartTime = uid, &metav1.Time{Time: now.Add(-time.Hour)}
		})
	}
	for _, row := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"a volume that may come", mounting("stuck"), ""},
		{"a volume of a ConfigMap that does not exist", mounting("missing"), "pod web-1: " + missing},
		{"as many crashes as there may be", newPod("web-1", container(3, false, running, crash)), ""},
		{"more crashes", newPod("web-1", container(4, false, running, crash)), "pod web-1, container app: crashed 4 times, last exit code 1"},
		{"a container that has just crashed once more", newPod("web-1", container(3, false, corev1.ContainerState{Terminated: outOfMemory}, crash)),
			"pod web-1, container app: crashed 4 times, last exit code 137 (OOMKilled)"},
		{"a container that is ready by now", newPod("web-1", container(4, true, running, crash)), ""},
		{"restarts without a termination", newPod("web-1", container(4, false, running, nil)), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			failure, _ := status.LastingFailureOf(row.pod, &status.Observation{Now: now, MountFailures: map[types.UID]string{"stuck": stuck, "missing": missing}}, 3)
			got := ""
			if failure != nil {
				got = failure.Message
			}
			check(t, "failure", row.want, got)
		})
	}
}
