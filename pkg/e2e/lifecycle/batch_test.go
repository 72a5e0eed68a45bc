// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// batchTest is a namespace with box "report", whose pods run to completion. Simulated nodes let pods of Jobs succeed at once.
type batchTest struct{ *framework.Namespace }

func (b batchTest) job() *batchv1.Job {
	b.T.Helper()
	job, err := b.ControlPlane.KubeClient.BatchV1().Jobs(b.Name).Get(b.Ctx, "report", metav1.GetOptions{})
	if err != nil {
		b.T.Fatal(err)
	}
	return job
}

func (b batchTest) jobs() []batchv1.Job {
	b.T.Helper()
	jobs, err := b.ControlPlane.KubeClient.BatchV1().Jobs(b.Name).List(b.Ctx, metav1.ListOptions{})
	if err != nil {
		b.T.Fatal(err)
	}
	return jobs.Items
}

func (b batchTest) cronJob() *batchv1.CronJob {
	b.T.Helper()
	cronJob, err := b.ControlPlane.KubeClient.BatchV1().CronJobs(b.Name).Get(b.Ctx, "report", metav1.GetOptions{})
	if err != nil {
		b.T.Fatal(err)
	}
	return cronJob
}

// awaitAnotherRun waits until another Job than the one with the UID has succeeded, and returns its UID.
func (b batchTest) awaitAnotherRun(before types.UID) types.UID {
	b.T.Helper()
	b.AwaitReadyCondition("report", metav1.ConditionTrue, modelv1.ReasonComplete, "the Job has succeeded")
	job := b.job()
	if job.UID == before || job.Status.Succeeded == 0 {
		b.T.Fatalf("Job %s of UID %s, before %s, has the status %+v", job.Name, job.UID, before, job.Status)
	}
	return job.UID
}

func TestJobRunsForEachPodTemplate(t *testing.T) {
	t.Parallel()
	b := batchTest{framework.NewNamespace(t)}
	b.CreateReadyBox(framework.NewBox("report", framework.WithWorkload(modelv1.WorkloadJob)))
	first := b.awaitAnotherRun("")
	b.Events.Await("report", "JobSucceeded", "Job report has succeeded")
	if run := b.Kubectl.Run("get", "mb", "report", "-o", "wide"); !strings.Contains(run, "0/0") || !strings.Contains(run, "Complete") {
		t.Errorf("the table is\n%s", run)
	}

	b.UpdateBox("report", func(spec *modelv1.ModelBoxSpec) {
		spec.Job = &modelv1.ModelBoxJobSpec{ActiveDeadlineSeconds: ptr.To[int64](600), BackoffLimit: ptr.To[int32](1)}
	})
	b.AwaitReady("report")
	framework.ExpectEqual(t, "UID of the Job after a change of its limits", first, b.job().UID)
	framework.ExpectEqual(t, "limit", int32(1), *b.job().Spec.BackoffLimit)

	diff := framework.RunKubectl(b.Kubectl.Command("patch", "mb", "report", "--type=merge", `--patch={"spec":{"image":"`+framework.NewImage+`"}}`), "")
	if want := "Warning: replaces Job report: it runs again"; diff.Err != nil || !strings.Contains(diff.Stderr, want) {
		t.Errorf("a change of the image says %q %v, want %q", diff.Stderr, diff.Err, want)
	}
	second := b.awaitAnotherRun(first)
	framework.ExpectEqual(t, "image", framework.NewImage, b.job().Spec.Template.Spec.Containers[0].Image)
	b.Events.Await("report", "ReplacedJob", "its pod template and its completions cannot change")

	b.UpdateBox("report", func(spec *modelv1.ModelBoxSpec) {
		spec.Job.Completions, spec.Job.CompletionMode = ptr.To[int32](3), ptr.To(modelv1.JobIndexed)
	})
	third := b.awaitAnotherRun(second)
	framework.ExpectEqual(t, "pods that have succeeded", int32(3), b.job().Status.Succeeded)

	if _, err := b.ControlPlane.ModelClient.ModelV1().ModelBoxes(b.Name).CreateRestart(b.Ctx, "report", &modelv1.ModelBoxRestart{}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	fourth := b.awaitAnotherRun(third)
	b.Kubectl.Run("delete", "job", "report")
	b.AwaitReadyCondition("report", metav1.ConditionTrue, modelv1.ReasonComplete, "the Job has succeeded, and was deleted")
	framework.ExpectEqual(t, "Jobs after the deletion", 0, len(b.jobs()))
	if _, err := b.ControlPlane.ModelClient.ModelV1().ModelBoxes(b.Name).CreateRestart(b.Ctx, "report", &modelv1.ModelBoxRestart{}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.Eventually("the Job exists", func() error {
		if jobs := b.jobs(); len(jobs) != 1 {
			return fmt.Errorf("there are %d Jobs", len(jobs))
		}
		return nil
	})
	b.awaitAnotherRun(fourth)
	b.Kubectl.Run("delete", "mb", "report")
	b.Eventually("the Job is gone", func() error {
		if jobs := b.jobs(); len(jobs) > 0 {
			return fmt.Errorf("there is Job %s", jobs[0].Name)
		}
		return nil
	})
}

func TestCronJobOfABox(t *testing.T) {
	t.Parallel()
	b := batchTest{framework.NewNamespace(t)}
	b.CreateReadyBox(framework.NewBox("report", framework.WithWorkload(modelv1.WorkloadCronJob)))
	b.AwaitReadyCondition("report", metav1.ConditionTrue, modelv1.ReasonReady, "no run was due yet")

	b.Kubectl.Run("patch", "cronjob", "report", "--type=merge", `--patch={"spec":{"schedule":"* * * * *"}}`)
	b.Events.Await("report", "RestoredCronJob", "spec.schedule")
	framework.ExpectEqual(t, "schedule", "0 0 1 1 *", b.cronJob().Spec.Schedule)

	b.UpdateBox("report", func(spec *modelv1.ModelBoxSpec) {
		spec.Image = framework.NewImage
		spec.CronJob.ConcurrencyPolicy, spec.CronJob.TimeZone = ptr.To(modelv1.ForbidConcurrent), ptr.To("Europe/Berlin")
	})
	b.AwaitReady("report")
	framework.ExpectEqual(t, "image", framework.NewImage, b.cronJob().Spec.JobTemplate.Spec.Template.Spec.Containers[0].Image)
	framework.ExpectEqual(t, "Jobs before a restart", 0, len(b.jobs()))

	for runs := 1; runs <= 2; runs++ {
		restart, err := b.ControlPlane.ModelClient.ModelV1().ModelBoxes(b.Name).CreateRestart(b.Ctx, "report", &modelv1.ModelBoxRestart{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b.AwaitReadyCondition("report", metav1.ConditionTrue, modelv1.ReasonReady, "has succeeded")
		b.Eventually("the restart has run", func() error {
			jobs := b.jobs()
			isRun := func(job batchv1.Job) bool {
				at := job.Spec.Template.Annotations[modelv1.RestartedAtAnnotation]
				return at == restart.Status.RestartedAt.UTC().Format("2006-01-02T15:04:05Z07:00") && job.Status.Succeeded == 1 &&
					job.Spec.Template.Spec.Containers[0].Image == framework.NewImage && metav1.IsControlledBy(&job, b.cronJob())
			}
			for i := range jobs {
				if isRun(jobs[i]) && len(jobs) == runs {
					return nil
				}
			}
			return fmt.Errorf("there are %d Jobs", len(jobs))
		})
	}
	b.UpdateBox("report", func(spec *modelv1.ModelBoxSpec) { spec.CronJob.Suspend = ptr.To(true) })
	b.AwaitReadyCondition("report", metav1.ConditionTrue, modelv1.ReasonStopped, "its CronJob is suspended")
	framework.ExpectEqual(t, "runs", 2, len(b.jobs()))
}

// A box adopts a CronJob. It cannot adopt a Job, of which nearly nothing can change.
func TestAdoptionOfACronJob(t *testing.T) {
	t.Parallel()
	b := batchTest{framework.NewNamespace(t)}
	b.Kubectl.Run("create", "cronjob", "report", "--image="+framework.Image, "--schedule=0 0 1 1 *")
	before := b.cronJob().UID
	box := framework.NewBox("report", framework.WithWorkload(modelv1.WorkloadCronJob))
	box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	b.CreateReadyBox(box)
	framework.ExpectEqual(t, "UID of the CronJob", before, b.cronJob().UID)
	if !metav1.IsControlledBy(b.cronJob(), b.GetBox("report")) {
		t.Errorf("the owners of the CronJob are %v", b.cronJob().OwnerReferences)
	}

	b.Kubectl.Run("create", "job", "other", "--image="+framework.Image)
	box = framework.NewBox("other", framework.WithWorkload(modelv1.WorkloadJob))
	box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	b.CreateBox(box)
	b.AwaitReadyCondition("other", metav1.ConditionFalse, modelv1.ReasonNotApplied, "cannot be adopted", "its pod template and its completions cannot change")
}
