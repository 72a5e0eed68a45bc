// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

var jobs = batchv1.SchemeGroupVersion.WithResource("jobs")

// createJob gives a new Job a UID and a time, as an API server does.
func (s *simulation) createJob(action clienttesting.Action) (bool, runtime.Object, error) {
	job := action.(clienttesting.CreateAction).GetObject().(*batchv1.Job)
	job.UID, job.CreationTimestamp = s.newUID(), metav1.NewTime(s.clock.Now())
	return false, nil, nil
}

// runJobs runs the Jobs that have not run, once each.
func (s *simulation) runJobs(t *testing.T) {
	t.Helper()
	for _, job := range simulated[batchv1.Job](t, s, jobs, "Job") {
		if len(job.Status.Conditions) > 0 || s.runJob == nil {
			continue
		}
		condition := batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonBackoffLimitExceeded, Message: "too many failures"}
		if s.runJob(t, job) {
			condition = batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}
		}
		job.Status.Conditions = []batchv1.JobCondition{condition}
		s.update(t, jobs, job)
	}
}

// jobsTest is a box with Jobs in a simulated cluster.
type jobsTest struct {
	*stepsTest
	// ran are the images and commands of the Jobs that have run.
	ran []string
	// fails returns whether the command of a Job fails.
	fails func(command string) bool
}

func withBefore(box *modelv1.ModelBox) {
	box.Spec.Before = &modelv1.ModelBoxJob{Command: []string{"migrate"}}
}
func withAfter(box *modelv1.ModelBox) {
	box.Spec.After = &modelv1.ModelBoxJob{Command: []string{"test"}}
}

// newJobsTest returns a box with Jobs before its first rollout.
func newJobsTest(t *testing.T, row stepsRow, changes ...func(*modelv1.ModelBox)) *jobsTest {
	t.Helper()
	s := &jobsTest{stepsTest: newUnstartedStepsTest(t, row.rolloutType, row.steps, slices.Concat(row.changes, changes)...)}
	s.fails = func(string) bool { return false }
	s.runJob = s.runCommand
	return s
}

// newCompleteJobsTest returns a box with Jobs whose first rollout is complete.
func newCompleteJobsTest(t *testing.T, row stepsRow, changes ...func(*modelv1.ModelBox)) *jobsTest {
	t.Helper()
	s := newJobsTest(t, row, changes...)
	s.rollOutFirst(t)
	s.ran = nil
	return s
}

// runCommand runs the command of a Job. A Job before the pods runs while no pod of its image exists, and sees the new files.
func (s *jobsTest) runCommand(t *testing.T, job *batchv1.Job) bool {
	t.Helper()
	container := &job.Spec.Template.Spec.Containers[0]
	if job.Labels[modelv1.JobTypeLabel] == string(modelv1.JobBefore) {
		for _, pod := range s.pods(t) {
			if pod.Spec.Containers[0].Image == container.Image {
				t.Errorf("pod %s of %s exists before the Job has run", pod.Name, container.Image)
			}
		}
	}
	command := container.Image + " " + container.Command[0]
	s.ran = append(s.ran, command)
	return !s.fails(command)
}

// changeBox is stepsTest.changeBox with room for the events of the change.
func (s *jobsTest) changeBox(t *testing.T, change func(*modelv1.ModelBoxSpec)) {
	t.Helper()
	s.told()
	s.stepsTest.changeBox(t, change)
}

// expectStable checks that the stable pods are all there, and only these.
func (s *jobsTest) expectStable(t *testing.T, image string) {
	t.Helper()
	check(t, "images", fmt.Sprintf("%d of %s", s.desired(t), image), s.images(t))
}

// expectFailed checks that the rollout has failed because of a Job.
func (s *jobsTest) expectFailed(t *testing.T, phase modelv1.RolloutPhase) {
	t.Helper()
	rollout := s.rollout(t)
	if rollout.Phase != phase || rollout.Reason != modelv1.ReasonJobFailed || !strings.Contains(rollout.Message, "BackoffLimitExceeded") {
		t.Errorf("the rollout is %s, %s: %s", rollout.Phase, rollout.Reason, rollout.Message)
	}
}

func (s *jobsTest) expectRan(t *testing.T, want ...string) {
	t.Helper()
	check(t, "Jobs that ran", want, s.ran)
}

func forEachRow(t *testing.T, test func(t *testing.T, row stepsRow)) {
	for _, row := range stepsRows {
		t.Run(row.name, func(t *testing.T) { test(t, row) })
	}
}

// forTwoRows is forEachRow for a Deployment and a StatefulSet, for what does not depend on the steps.
func forTwoRows(t *testing.T, test func(t *testing.T, row stepsRow)) {
	for _, row := range []stepsRow{stepsRows[0], stepsRows[3]} {
		t.Run(row.name, func(t *testing.T) { test(t, row) })
	}
}

func TestJobsOfRevisions(t *testing.T) {
	forEachRow(t, func(t *testing.T, row stepsRow) {
		s := newJobsTest(t, row, withBefore, withAfter)
		s.rollOutFirst(t)
		s.expectRan(t, "nginx:1 migrate", "nginx:1 test")
		s.startsAnew = true
		s.changeBox(t, image("nginx:2"))
		s.runToTheEnd(t)
		s.expectComplete(t, "nginx:2")
		s.expectRan(t, "nginx:1 migrate", "nginx:1 test", "nginx:2 migrate", "nginx:2 test")
		for _, former := range []string{"nginx:1", "nginx:2"} {
			s.changeBox(t, image(former))
			s.runToTheEnd(t)
			s.expectComplete(t, former)
		}
		check(t, "Jobs", 4, len(s.ran))
		if writes := s.reconcileOnce(t); len(writes) > 0 {
			t.Errorf("a box at rest is written: %q", writes)
		}
	})
}

func TestFailedJobBefore(t *testing.T) {
	forEachRow(t, func(t *testing.T, row stepsRow) {
		s := newCompleteJobsTest(t, row, withBefore, onFailure(modelv1.RolloutFailureRollback))
		s.fails = func(command string) bool { return command == "nginx:2 migrate" && len(s.ran) == 1 }
		s.changeBox(t, image("nginx:2"))
		s.runFor(t, 2*time.Minute)
		s.expectFailed(t, modelv1.RolloutFailed)
		s.expectStable(t, "nginx:1")
		check(t, "ready", "False RolloutFailed", s.status(t).ready)

		s.scaleBox(t, 5)
		s.runFor(t, 2*time.Minute)
		s.expectStable(t, "nginx:1")
		s.expectFailed(t, modelv1.RolloutFailed)
		s.expectRan(t, "nginx:2 migrate")

		s.retry(t)
		s.runToTheEnd(t)
		s.expectComplete(t, "nginx:2")
		s.expectRan(t, "nginx:2 migrate", "nginx:2 migrate")
	})
}

func TestFailedJobBeforeOfANewBox(t *testing.T) {
	forTwoRows(t, func(t *testing.T, row stepsRow) {
		s := newJobsTest(t, row, withBefore)
		s.fails = func(string) bool { return true }
		s.run(t)
		s.expectFailed(t, modelv1.RolloutFailed)
		check(t, "pods", "", s.images(t))
		s.fails = func(string) bool { return false }
		s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Before.Command = []string{"mend"} })
		s.runToTheEnd(t)
		s.expectComplete(t, "nginx:1")
		s.expectRan(t, "nginx:1 migrate", "nginx:1 mend")
	})
}

// A change ends a rollout that waits for its Job, and the Job.
func TestChangeWhileAJobRuns(t *testing.T) {
	forEachRow(t, func(t *testing.T, row stepsRow) {
		s := newCompleteJobsTest(t, row, withBefore)
		s.runJob = nil
		s.changeBox(t, image("nginx:2"))
		s.run(t)
		check(t, "ready", "False Progressing", s.status(t).ready)
		s.expectStable(t, "nginx:1")
		check(t, "running Jobs", []string{"nginx:2"}, s.runningJobs(t))
		s.changeBox(t, image("nginx:3"))
		s.run(t)
		check(t, "running Jobs", []string{"nginx:3"}, s.runningJobs(t))
		s.changeBox(t, image("nginx:1"))
		s.run(t)
		s.expectComplete(t, "nginx:1")
		check(t, "running Jobs", 0, len(s.runningJobs(t)))
		s.expectRan(t)
	})
}

// runningJobs returns the images of the Jobs that have no result.
func (s *jobsTest) runningJobs(t *testing.T) (images []string) {
	t.Helper()
	for _, job := range simulated[batchv1.Job](t, s.simulation, jobs, "Job") {
		if len(job.Status.Conditions) == 0 {
			images = append(images, job.Spec.Template.Spec.Containers[0].Image)
		}
	}
	return images
}

// The Job does not run for pods that have started before the box had it.
func TestJobBeforeOfARunningBox(t *testing.T) {
	forTwoRows(t, func(t *testing.T, row stepsRow) {
		for _, change := range []func(*modelv1.ModelBox){func(*modelv1.ModelBox) {}, func(box *modelv1.ModelBox) { box.Status = modelv1.ModelBoxStatus{} }} {
			s := newCompleteJobsTest(t, row)
			s.testController.update(t, change)
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Before = &modelv1.ModelBoxJob{Command: []string{"migrate"}} })
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:1")
			s.expectRan(t)
			s.changeBox(t, image("nginx:2"))
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:2")
			s.expectRan(t, "nginx:2 migrate")
		}
	})
}

// A backup has neither the status of the box nor finished Jobs. The pods of the restored workload are those that the Job ran for.
func TestJobBeforeOfARestoredBox(t *testing.T) {
	s := newCompleteJobsTest(t, stepsRows[0], withBefore)
	s.testController.update(t, func(box *modelv1.ModelBox) { box.UID, box.Status = "restored", modelv1.ModelBoxStatus{} })
	for _, job := range simulated[batchv1.Job](t, s.simulation, jobs, "Job") {
		s.delete(t, jobs, job)
	}
	for _, deployment := range simulated[appsv1.Deployment](t, s.simulation, deployments, "Deployment") {
		restored(deployment)
		s.update(t, deployments, deployment)
	}
	s.runToTheEnd(t)
	s.expectComplete(t, "nginx:1")
	s.expectRan(t)
	s.changeBox(t, image("nginx:2"))
	s.runToTheEnd(t)
	s.expectRan(t, "nginx:2 migrate")
}

// A box without a recorded stable revision keeps the pods that it has.
func TestJobBeforeOfABoxWithoutStatus(t *testing.T) {
	forTwoRows(t, func(t *testing.T, row stepsRow) {
		s := newCompleteJobsTest(t, row)
		s.runJob = nil
		s.testController.update(t, func(box *modelv1.ModelBox) {
			box.Status = modelv1.ModelBoxStatus{}
			withBefore(box)
			box.Spec.Image = "nginx:2"
			box.Generation++
		})
		s.runFor(t, time.Hour)
		s.expectStable(t, "nginx:1")
		check(t, "running Jobs", []string{"nginx:2"}, s.runningJobs(t))
		s.runJob = s.runCommand
		s.serving = 0
		s.runToTheEnd(t)
		s.expectComplete(t, "nginx:2")
		s.expectRan(t, "nginx:2 migrate")
	})
}

// Finished Jobs tell what has run if the status is lost.
func TestJobsOfALostStore(t *testing.T) {
	forTwoRows(t, func(t *testing.T, row stepsRow) {
		s := newCompleteJobsTest(t, row, withBefore, withAfter)
		s.changeBox(t, image("nginx:2"))
		s.runToTheEnd(t)
		s.testController.update(t, func(box *modelv1.ModelBox) { box.Status = modelv1.ModelBoxStatus{} })
		s.startAnother(t)
		s.runToTheEnd(t)
		s.expectComplete(t, "nginx:2")
		s.changeBox(t, image("nginx:1"))
		s.serving = 0 // The stable pods are recorded again only now.
		s.runToTheEnd(t)
		s.expectComplete(t, "nginx:1")
		s.expectRan(t, "nginx:2 migrate", "nginx:2 test")
	})
}

func TestFailedJobAfter(t *testing.T) {
	forEachRow(t, func(t *testing.T, row stepsRow) {
		policies := []modelv1.RolloutFailurePolicy{modelv1.RolloutFailureRollback}
		if row.name == stepsRows[0].name {
			policies = append(policies, modelv1.RolloutFailureNone, modelv1.RolloutFailurePause)
		}
		for _, policy := range policies {
			s := newCompleteJobsTest(t, row, withAfter, onFailure(policy))
			s.fails = func(command string) bool { return command == "nginx:2 test" && len(s.ran) == 1 }
			s.changeBox(t, image("nginx:2"))
			s.runToTheEnd(t)
			s.runFor(t, 2*time.Minute)
			phase := failedPhases[policy]
			s.expectFailed(t, phase)
			if phase == modelv1.RolloutRolledBack {
				s.expectNoSteps(t, "nginx:1")
			}
			s.expectRan(t, "nginx:2 test")
			s.retry(t)
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:2")
			s.expectRan(t, "nginx:2 test", "nginx:2 test")

			s.fails = func(command string) bool { return command == "nginx:3 test" }
			s.changeBox(t, image("nginx:3"))
			s.runToTheEnd(t)
			s.expectFailed(t, phase)
			s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.After = nil })
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:3")
		}
	})
}

func TestPausedBoxRunsNoJob(t *testing.T) {
	forTwoRows(t, func(t *testing.T, row stepsRow) {
		s := newCompleteJobsTest(t, row, withBefore)
		s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Image, spec.Paused = "nginx:2", true })
		s.runFor(t, time.Minute)
		s.expectRan(t)
		s.expectStable(t, "nginx:1")
		s.changeBox(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
		s.runToTheEnd(t)
		s.expectComplete(t, "nginx:2")
		s.expectRan(t, "nginx:2 migrate")
	})
}

func TestPrunedJobs(t *testing.T) {
	s := newCompleteJobsTest(t, stepsRows[0], withBefore, func(box *modelv1.ModelBox) { box.Spec.RevisionHistoryLimit = ptr.To[int32](3) })
	for version := range 4 {
		s.step(time.Minute)
		s.changeBox(t, image(fmt.Sprintf("nginx:%d", version+2)))
		s.runToTheEnd(t)
	}
	var images []string
	for _, job := range simulated[batchv1.Job](t, s.simulation, jobs, "Job") {
		images = append(images, job.Spec.Template.Spec.Containers[0].Image)
	}
	slices.Sort(images)
	check(t, "Jobs", []string{"nginx:3", "nginx:4", "nginx:5"}, images)
}

// The controller is killed before or after a random write.
func TestKilledControllerRunsJobsOnce(t *testing.T) {
	forTwoRows(t, func(t *testing.T, row stepsRow) {
		for range 4 {
			s := newCompleteJobsTest(t, row, withBefore, withAfter)
			s.killAt(rand.IntN(12), rand.IntN(2) == 0)
			s.changeBox(t, image("nginx:2"))
			s.runToTheEnd(t)
			s.expectComplete(t, "nginx:2")
			s.expectRan(t, "nginx:2 migrate", "nginx:2 test")
		}
	})
}

func TestJobPod(t *testing.T) {
	s := newCompleteJobsTest(t, stepsRows[0], withBefore, func(box *modelv1.ModelBox) {
		box.Spec.Labels = map[string]string{"team": "web"}
	})
	s.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
		spec.Image, spec.Configs[0].Data = "nginx:2", map[string]string{"web.conf": "workers 2;"}
	})
	s.runJob = nil
	s.run(t)
	all := simulated[batchv1.Job](t, s.simulation, jobs, "Job")
	pod := &all[slices.IndexFunc(all, func(job *batchv1.Job) bool { return len(job.Status.Conditions) == 0 })].Spec.Template
	check(t, "labels", map[string]string{modelv1.JobBoxLabel: "web", modelv1.JobTypeLabel: "Before", "app.kubernetes.io/managed-by": "modelbox-apiserver"}, pod.Labels)
	check(t, "ports", 0, len(pod.Spec.Containers[0].Ports))
	i := slices.IndexFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == "config" })
	configMap := s.configMap(t, pod.Spec.Volumes[i].ConfigMap.Name)
	check(t, "file of the Job", "workers 2;", configMap.Data["web.conf"])
	check(t, "file of the pods", "workers 1;", s.configMap(t, "web").Data["web.conf"])
	if _, isSelected := kinds.PodBoxKey(pod); isSelected {
		t.Error("the pod of the Job is a pod of the box")
	}
}
