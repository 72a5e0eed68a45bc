// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

func asJob(box *modelv1.ModelBox) {
	spec := &box.Spec
	spec.Workload, spec.Replicas, spec.RollingUpdate, spec.Rollout = modelv1.WorkloadJob, nil, nil, nil
}

func asCronJob(box *modelv1.ModelBox) {
	asJob(box)
	box.Spec.Workload, box.Spec.CronJob = modelv1.WorkloadCronJob, &modelv1.ModelBoxCronJobSpec{Schedule: "30 2 * * *"}
}

var begin = time.Date(2026, 1, 2, 2, 30, 0, 0, time.UTC)

// newJob returns an active Job that has no result yet.
func newJob(name string, changes ...func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault, CreationTimestamp: metav1.NewTime(begin)},
		Spec:       batchv1.JobSpec{Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](2), BackoffLimit: ptr.To[int32](6)},
		Status:     batchv1.JobStatus{Active: 2, Ready: ptr.To[int32](1)},
	}
	for _, change := range changes {
		change(job)
	}
	return job
}

// finished gives a Job its result after so many minutes.
func finished(result batchv1.JobConditionType, minutes int) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Status = batchv1.JobStatus{Conditions: []batchv1.JobCondition{{
			Type: result, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", Message: "too many failures",
			LastTransitionTime: metav1.NewTime(begin.Add(time.Duration(minutes) * time.Minute)),
		}}}
	}
}

// failedPod is a pod whose command has failed.
var failedPod = newPod("web-a", func(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", Message: "a\nb\nc\nno database\n"},
	}}}
})

func TestConditionsOfAJob(t *testing.T) {
	running := conditions{"False Progressing", "False Progressing", "True Progressing", "True Applied", "none"}
	failed := conditions{"False JobFailed", "False JobFailed", "False JobFailed", "True Applied", "True JobFailed"}
	for _, row := range []struct {
		name     string
		job      *batchv1.Job
		pods     []*corev1.Pod
		want     conditions
		message  string
		replicas []int32
	}{
		{"it runs", newJob("web"), nil, running, "0 of 3 pods have succeeded", []int32{2, 2, 1}},
		{"the last pod runs", newJob("web", func(job *batchv1.Job) { job.Status.Succeeded, job.Status.Active = 2, 1 }), nil,
			running, "2 of 3 pods have succeeded", []int32{1, 1, 1}},
		{"attempts have failed", newJob("web", func(job *batchv1.Job) { job.Status.Failed = 2 }), []*corev1.Pod{failedPod},
			running, "0 of 3 pods have succeeded; 2 of 7 attempts failed; pod web-a: exit code 3: b / c / no database", []int32{2, 2, 1}},
		{"it needs no number of pods", newJob("web", func(job *batchv1.Job) { job.Spec.Completions, job.Status.Succeeded = nil, 1 }), nil,
			running, "1 pod has succeeded", []int32{2, 2, 1}},
		{"it has succeeded", newJob("web", finished(batchv1.JobComplete, 1)), nil,
			conditions{"True Complete", "True Complete", "False RolloutComplete", "True Applied", "none"}, "the Job has succeeded", []int32{0, 0, 0}},
		{"it has failed", newJob("web", finished(batchv1.JobFailed, 1)), []*corev1.Pod{failedPod},
			failed, "Job web has failed: BackoffLimitExceeded: too many failures; pod web-a: exit code 3: b / c / no database", []int32{0, 0, 0}},
		{"another client has suspended it", newJob("web", func(job *batchv1.Job) {
			job.Spec.Suspend, job.Status = ptr.To(true), batchv1.JobStatus{}
			job.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "queue", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:suspend":{}}}`)}}
		}), nil, conditions{"False Suspended", "False Progressing", "False Suspended", "True Applied", "none"},
			"0 of 3 pods have succeeded; queue has suspended the Job, until its field spec.suspend is false", []int32{0, 0, 0}},
	} {
		t.Run(row.name, func(t *testing.T) {
			observed := &status.Observation{Workload: kinds.Job{Job: row.job, Pods: row.pods}}
			got := status.Of(fixture.WebBox(t, asJob), observed)
			check(t, "conditions", row.want, summarize(got.Conditions))
			check(t, "message", row.message, messageOf(t, got.Conditions, modelv1.ConditionReady))
			check(t, "desired, current and ready replicas", row.replicas, []int32{*got.DesiredReplicas, got.Replicas, got.ReadyReplicas})
		})
	}
}

// A pod whose attempt ends is not reported: the Job tries again, or has failed. A pod that does not start is.
func TestFailingPodsOfAJob(t *testing.T) {
	for _, row := range []struct{ name, want string }{{"web-a", modelv1.ReasonProgressing}, {"web-b", "ImagePullBackOff"}} {
		pods := []*corev1.Pod{newPod("web-a", ofJob("web"), func(pod *corev1.Pod) { pod.Status.ContainerStatuses = failedPod.Status.ContainerStatuses })}
		if row.name == "web-b" {
			pods = append(pods, newPod("web-b", ofJob("web"), waiting("web", "ImagePullBackOff", "not found")))
		}
		got := status.ConditionsOf(fixture.WebBox(t, asJob), &status.Observation{Workload: kinds.AsWorkload(newJob("web")), Pods: pods})
		check(t, "Ready with pod "+row.name, "False "+row.want, summarize(got).ready)
	}
}

func TestConditionsOfACronJob(t *testing.T) {
	healthy := conditions{"True Ready", "True Scheduled", "False RolloutComplete", "True Applied", "none"}
	failed := healthy.with(conditions{ready: "False LastJobFailed", progressing: "False LastJobFailed"})
	scheduled := func(c *batchv1.CronJob) { c.Status.LastScheduleTime = ptr.To(metav1.NewTime(begin)) }
	active := func(c *batchv1.CronJob) { c.Status.Active = []corev1.ObjectReference{{Name: "web-2"}} }
	succeeded := newJob("web-1", finished(batchv1.JobComplete, 1))
	const failure = "Job web-2 has failed: BackoffLimitExceeded: too many failures"
	for _, row := range []struct {
		name    string
		changes []func(*batchv1.CronJob)
		jobs    []*batchv1.Job
		pods    []*corev1.Pod
		want    conditions
		message string
	}{
		{"no run was due", nil, nil, nil, healthy, "no run was due yet"},
		{"the first run is active", []func(*batchv1.CronJob){scheduled}, []*batchv1.Job{newJob("web-1")}, nil, healthy, "the first run is active"},
		{"the cache of Jobs is late", []func(*batchv1.CronJob){scheduled, active}, nil, nil, healthy, "the first run is active"},
		{"a run has succeeded", []func(*batchv1.CronJob){scheduled}, []*batchv1.Job{succeeded}, nil, healthy, "Job web-1 has succeeded"},
		{"a run has failed", []func(*batchv1.CronJob){scheduled}, []*batchv1.Job{succeeded, newJob("web-2", finished(batchv1.JobFailed, 2))}, nil, failed, failure},
		{"a run has failed, and the next one is active", []func(*batchv1.CronJob){scheduled},
			[]*batchv1.Job{newJob("web-2", finished(batchv1.JobFailed, 2)), newJob("web-3")}, nil, failed, failure},
		{"a run has succeeded after one that has failed", []func(*batchv1.CronJob){scheduled},
			[]*batchv1.Job{newJob("web-0", finished(batchv1.JobFailed, 0)), succeeded}, nil, healthy, "Job web-1 has succeeded"},
		{"two runs have ended in the same second", []func(*batchv1.CronJob){scheduled},
			[]*batchv1.Job{newJob("web-0", finished(batchv1.JobFailed, 1)), succeeded}, nil, healthy, "Job web-1 has succeeded"},
		{"a run was started manually", nil, []*batchv1.Job{succeeded}, nil, healthy, "Job web-1 has succeeded"},
		{"the last run is active", []func(*batchv1.CronJob){active, func(c *batchv1.CronJob) {
			c.Status.LastScheduleTime = ptr.To(metav1.NewTime(begin.Add(time.Hour)))
		}}, []*batchv1.Job{succeeded}, nil, healthy, "Job web-1 has succeeded, and the next run is active"},
		{"it keeps no Job that has succeeded", []func(*batchv1.CronJob){scheduled, func(c *batchv1.CronJob) {
			c.Status.LastSuccessfulTime = ptr.To(metav1.NewTime(begin.Add(time.Minute)))
		}}, nil, nil, healthy, "the last run has succeeded"},
		{"it keeps no Job that has failed", []func(*batchv1.CronJob){scheduled}, nil, nil, failed,
			"the run of 2026-01-02T02:30:00Z has not succeeded, and its Job is gone"},
		{"a pod of the next run does not start", []func(*batchv1.CronJob){scheduled}, []*batchv1.Job{succeeded},
			[]*corev1.Pod{newPod("web-b", ofJob("web-2"), waiting("web", "ImagePullBackOff", "not found"))},
			healthy.with(conditions{ready: "False ImagePullBackOff"}), "pod web-b, container web: not found"},
		{"another client has suspended it", []func(*batchv1.CronJob){func(c *batchv1.CronJob) {
			c.Spec.Suspend = ptr.To(true)
			c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-patch", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:suspend":{}}}`)}}
		}}, nil, nil, healthy.with(conditions{available: "False Suspended"}),
			"no run was due yet; kubectl-patch has suspended the CronJob, until its field spec.suspend is false"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cronJob := kinds.CronJob{CronJob: &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "30 2 * * *"}}}
			for _, change := range row.changes {
				change(cronJob.CronJob)
			}
			for _, job := range row.jobs {
				cronJob.Jobs = append(cronJob.Jobs, kinds.Job{Job: job})
			}
			got := status.ConditionsOf(fixture.WebBox(t, asCronJob), &status.Observation{Workload: cronJob, Pods: row.pods})
			check(t, "conditions", row.want, summarize(got))
			check(t, "message", row.message, messageOf(t, got, modelv1.ConditionReady))
		})
	}
	t.Run("the box has suspended it", func(t *testing.T) {
		box := fixture.WebBox(t, asCronJob, func(box *modelv1.ModelBox) { box.Spec.CronJob.Suspend = ptr.To(true) })
		cronJob := kinds.AsWorkload(&batchv1.CronJob{Spec: batchv1.CronJobSpec{Suspend: ptr.To(true)}})
		got := status.ConditionsOf(box, &status.Observation{Workload: cronJob})
		check(t, "Ready", "True Stopped", summarize(got).ready)
		check(t, "message", "the box is stopped: its CronJob is suspended", messageOf(t, got, modelv1.ConditionReady))
	})
}

// batchTest is a box whose pods run to completion in a simulated cluster, in which Jobs run at once.
type batchTest struct {
	*stepsTest
	// ran are the images of the Jobs that have run.
	ran []string
}

func newBatchTest(t *testing.T, changes ...func(*modelv1.ModelBox)) *batchTest {
	t.Helper()
	s := &batchTest{stepsTest: newUnstartedStepsTest(t, modelv1.RolloutCanary, nil, changes...)}
	s.runJob = func(_ *testing.T, job *batchv1.Job) bool {
		s.ran = append(s.ran, job.Spec.Template.Spec.Containers[0].Image)
		return true
	}
	s.run(t)
	return s
}

func (s *batchTest) change(t *testing.T, change func(*modelv1.ModelBoxSpec)) {
	t.Helper()
	s.changeBox(t, change)
	s.run(t)
}

func (s *batchTest) expect(t *testing.T, ready string, ran ...string) {
	t.Helper()
	check(t, "Ready", ready, summarize(s.boxInServer(t).Status.Conditions).ready)
	check(t, "images of the Jobs that ran", ran, s.ran)
}

func restartedAt(time string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{modelv1.RestartedAtAnnotation: time}}}
	}
}

func TestJobRunsOnceForEachPodTemplate(t *testing.T) {
	s := newBatchTest(t, asJob)
	s.expect(t, "True Complete", "nginx:1")
	s.startAnother(t)
	s.run(t)
	s.expect(t, "True Complete", "nginx:1")

	s.change(t, func(spec *modelv1.ModelBoxSpec) {
		spec.Job = &modelv1.ModelBoxJobSpec{ActiveDeadlineSeconds: ptr.To[int64](60)}
	})
	s.expect(t, "True Complete", "nginx:1")
	check(t, "deadline", int64(60), *simulated[batchv1.Job](t, s.simulation, jobs, "Job")[0].Spec.ActiveDeadlineSeconds)

	s.change(t, image("nginx:2"))
	s.expect(t, "True Complete", "nginx:1", "nginx:2")
	s.change(t, image("nginx:1"))
	s.expect(t, "True Complete", "nginx:1", "nginx:2", "nginx:1")
	s.change(t, restartedAt("2026-01-02T03:04:05Z"))
	s.change(t, func(spec *modelv1.ModelBoxSpec) { spec.Job.Completions = ptr.To[int32](2) })
	s.change(t, func(spec *modelv1.ModelBoxSpec) { spec.Configs[0].Data = map[string]string{"web.conf": "workers 2;"} })
	check(t, "runs", 6, len(s.ran))

	s.change(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
	s.change(t, image("nginx:3"))
	check(t, "runs of a paused box", 6, len(s.ran))
	s.change(t, func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
	check(t, "last run", "nginx:3", s.ran[6])
}

// A cluster may delete finished Jobs after a while.
func TestFinishedJobThatIsDeletedDoesNotRunAgain(t *testing.T) {
	deleteJob := func(t *testing.T, s *batchTest) {
		t.Helper()
		s.delete(t, jobs, simulated[batchv1.Job](t, s.simulation, jobs, "Job")[0])
		s.startAnother(t)
		s.run(t)
	}
	s := newBatchTest(t, asJob)
	check(t, "phase", modelv1.JobSucceeded, s.boxInServer(t).Status.Job.Phase)
	deleteJob(t, s)
	s.expect(t, "True Complete", "nginx:1")
	check(t, "message", "the Job has succeeded, and was deleted", messageOf(t, s.boxInServer(t).Status.Conditions, modelv1.ConditionReady))
	check(t, "Available", "True Complete", summarize(s.boxInServer(t).Status.Conditions).available)
	s.change(t, func(spec *modelv1.ModelBoxSpec) { spec.Job = &modelv1.ModelBoxJobSpec{BackoffLimit: ptr.To[int32](1)} })
	s.expect(t, "True Complete", "nginx:1")
	s.change(t, restartedAt("2026-01-02T03:04:05Z"))
	s.expect(t, "True Complete", "nginx:1", "nginx:1")

	s.runJob = func(*testing.T, *batchv1.Job) bool { return false }
	s.change(t, image("nginx:bad"))
	deleteJob(t, s)
	check(t, "conditions of a Job that has failed", conditions{"False JobFailed", "False JobFailed", "False JobFailed", "True Applied", "True JobFailed"},
		summarize(s.boxInServer(t).Status.Conditions))
	check(t, "phase", modelv1.JobFailed, s.boxInServer(t).Status.Job.Phase)

	// A Job that has not finished is created again.
	s.runJob = nil
	s.change(t, image("nginx:2"))
	if job := s.boxInServer(t).Status.Job; job != nil {
		t.Errorf("the status of a Job that runs is %+v", job)
	}
	deleteJob(t, s)
	check(t, "Jobs", 1, len(simulated[batchv1.Job](t, s.simulation, jobs, "Job")))
	check(t, "Ready", "False Progressing", summarize(s.boxInServer(t).Status.Conditions).ready)
}

// The status of a box is lost with its store. The Job is there.
func TestJobDoesNotRunAgainForALostStatus(t *testing.T) {
	s := newBatchTest(t, asJob)
	box := s.boxInServer(t)
	box.Status = modelv1.ModelBoxStatus{}
	if _, err := s.boxes.ModelV1().ModelBoxes(box.Namespace).UpdateStatus(t.Context(), box, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.startAnother(t)
	s.run(t)
	s.expect(t, "True Complete", "nginx:1")
}

func TestKilledControllerReplacesAJobOnce(t *testing.T) {
	for write := range 6 {
		for _, isAfter := range []bool{false, true} {
			s := newBatchTest(t, asJob)
			s.killAt(write, isAfter)
			s.change(t, image("nginx:2"))
			s.expect(t, "True Complete", "nginx:1", "nginx:2")
		}
	}
}

func TestRestartedCronJobRunsOnce(t *testing.T) {
	for write := range 6 {
		for _, isAfter := range []bool{false, true} {
			s := newBatchTest(t, asCronJob)
			s.expect(t, "True Ready")
			s.change(t, image("nginx:2"))
			s.expect(t, "True Ready")
			s.killAt(write, isAfter)
			s.change(t, restartedAt("2026-01-02T03:04:05Z"))
			s.expect(t, "True Ready", "nginx:2")

			// The history of the CronJob does not keep the Job.
			for _, job := range simulated[batchv1.Job](t, s.simulation, jobs, "Job") {
				check(t, "controller of the Job", "CronJob", metav1.GetControllerOf(job).Kind)
				s.delete(t, jobs, job)
			}
			s.startAnother(t)
			s.change(t, image("nginx:3"))
			s.expect(t, "True Ready", "nginx:2")
			s.change(t, restartedAt("2026-01-01T00:00:00Z")) // as a backup has it
			s.expect(t, "True Ready", "nginx:2")
			s.change(t, restartedAt("2026-01-02T03:04:06Z"))
			s.expect(t, "True Ready", "nginx:2", "nginx:3")
		}
	}
}

// A CronJob stays as it is until the Job of a restart is created. A new box runs at its schedule only.
func TestRestartWaitsForItsJob(t *testing.T) {
	s := newBatchTest(t, asCronJob)
	isRefused := true
	s.cluster.PrependReactor("create", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return isRefused, nil, errors.New("no Job is created")
	})
	s.changeBox(t, func(spec *modelv1.ModelBoxSpec) {
		restartedAt("2026-01-02T03:04:05Z")(spec)
		spec.Image = "nginx:2"
	})
	s.catchUp(t)
	if _, err := s.ReconcileKey(t.Context(), fixture.WebKey); err == nil || !strings.Contains(err.Error(), "creating Job web-") {
		t.Errorf("the error is %v", err)
	}
	cronJobs, err := s.cluster.BatchV1().CronJobs("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "image of the CronJob", "nginx:1", cronJobs.Items[0].Spec.JobTemplate.Spec.Template.Spec.Containers[0].Image)
	isRefused = false
	s.run(t)
	s.expect(t, "True Ready", "nginx:2")

	restarted := newBatchTest(t, asCronJob, func(box *modelv1.ModelBox) { restartedAt("2026-01-02T03:04:05Z")(&box.Spec) })
	restarted.expect(t, "True Ready")
}

// The cluster removes the time of a restart from the pod template of a CronJob, as an admission webhook can, and keeps no finished Job.
func TestRestartThatTheClusterDoesNotKeepRunsOnce(t *testing.T) {
	s := newBatchTest(t, asCronJob)
	s.cluster.PrependReactor("patch", "cronjobs", func(action clienttesting.Action) (bool, runtime.Object, error) {
		patch := action.(clienttesting.PatchActionImpl)
		patch.Patch = []byte(strings.ReplaceAll(string(patch.Patch), modelv1.RestartedAtAnnotation, "example.com/removed"))
		return s.simulation.apply(patch)
	})
	s.changeBox(t, restartedAt("2026-01-02T03:04:05Z"))
	for range 5 {
		s.catchUp(t)
		_, _ = s.ReconcileKey(t.Context(), fixture.WebKey) // which reports the annotation
		s.work(t)
		for _, job := range simulated[batchv1.Job](t, s.simulation, jobs, "Job") {
			if kinds.IsJobFinished(job) {
				s.delete(t, jobs, job)
			}
		}
	}
	check(t, "images of the Jobs that ran", []string{"nginx:1"}, s.ran)
}

// A Job says nothing about pods that it cannot create. Its controller records events.
func TestJobWithoutPods(t *testing.T) {
	s := newBatchTest(t, asJob, func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" })
	job := simulated[batchv1.Job](t, s.simulation, jobs, "Job")[0]
	job.Status, job.CreationTimestamp = batchv1.JobStatus{}, metav1.NewTime(s.rolloutTest.clock.Now())
	s.update(t, jobs, job)
	s.runJob = nil
	lists := 0
	s.cluster.PrependReactor("list", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		lists++
		return true, &eventsv1.EventList{Items: []eventsv1.Event{{Note: "exceeded quota: pods"}}}, nil
	})
	s.run(t)
	check(t, "lists of events about a new Job", 0, lists)
	if s.requeueAfter <= 0 || s.requeueAfter > status.StartTimeout {
		t.Errorf("the box is looked at again after %s", s.requeueAfter)
	}
	s.step(status.StartTimeout)
	s.run(t)
	check(t, "Ready", "False FailedCreate", summarize(s.boxInServer(t).Status.Conditions).ready)
	check(t, "message", "exceeded quota: pods", messageOf(t, s.boxInServer(t).Status.Conditions, modelv1.ConditionReady))
}

// The Jobs before and after a rollout are no workloads, and the Job of a box is none of these.
func TestJobsOfABoxAreToldApart(t *testing.T) {
	s := newJobsTest(t, stepsRows[0], withBefore)
	s.rollOutFirst(t)
	s.run(t)
	names := []string{}
	for _, job := range simulated[batchv1.Job](t, s.simulation, jobs, "Job") {
		names = append(names, job.Name)
	}
	if len(names) != 1 || !strings.HasPrefix(names[0], "web-before-") {
		t.Errorf("the Jobs are %q", names)
	}
	running := newBatchTest(t, asJob, func(box *modelv1.ModelBox) { box.Spec.Ports = nil })
	running.runJob = nil
	running.change(t, image("nginx:2"))
	images := []string{}
	for _, job := range simulated[batchv1.Job](t, running.simulation, jobs, "Job") {
		images = append(images, job.Spec.Template.Spec.Containers[0].Image)
	}
	check(t, "running Jobs", []string{"nginx:2"}, slices.Sorted(slices.Values(images)))
}
