// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// asJob makes the valid box one that runs once, with these limits.
func asJob(job *model.ModelBoxJobSpec) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		spec := &box.Spec
		spec.Workload, spec.Job = model.WorkloadJob, job
		spec.Replicas, spec.RollingUpdate, spec.MinReadySeconds = nil, nil, nil
	}
}

// asCronJob makes the valid box one that runs at the schedule.
func asCronJob(schedule string, changes ...func(*model.ModelBoxCronJobSpec)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		asJob(nil)(box)
		box.Spec.Workload, box.Spec.CronJob = model.WorkloadCronJob, &model.ModelBoxCronJobSpec{Schedule: schedule}
		for _, change := range changes {
			change(box.Spec.CronJob)
		}
	}
}

func TestJobWorkload(t *testing.T) {
	indexed := func(completions *int32, parallelism int32) *model.ModelBoxJobSpec {
		return &model.ModelBoxJobSpec{CompletionMode: ptr.To(model.JobIndexed), Completions: completions, Parallelism: &parallelism}
	}
	limits := &model.ModelBoxJobSpec{Completions: ptr.To[int32](0), Parallelism: ptr.To[int32](0), BackoffLimit: ptr.To[int32](-1), ActiveDeadlineSeconds: ptr.To[int64](0), CompletionMode: ptr.To(model.JobCompletionMode("Any"))}
	check(t, []row{
		{"a Job is accepted", asJob(nil), nil},
		{"a Job with all limits is accepted", asJob(&model.ModelBoxJobSpec{
			Completions: ptr.To[int32](5), Parallelism: ptr.To[int32](2), BackoffLimit: ptr.To[int32](0), ActiveDeadlineSeconds: ptr.To[int64](1),
		}), nil},
		{"limits are in their ranges", asJob(limits), []string{
			"Invalid value: spec.job.completions", "Invalid value: spec.job.parallelism", "Unsupported value: spec.job.completionMode",
			"Invalid value: spec.job.backoffLimit", "Invalid value: spec.job.activeDeadlineSeconds",
		}},
		{"an Indexed Job is accepted", asJob(indexed(ptr.To[int32](100_000), 100_000)), nil},
		{"an Indexed Job has completions", asJob(indexed(nil, 1)), []string{"Required value: spec.job.completions"}},
		{"an Indexed Job has up to 100000 pods", asJob(indexed(ptr.To[int32](100_001), 100_001)), []string{"Invalid value: spec.job.completions", "Invalid value: spec.job.parallelism"}},
		{"the hostnames of an Indexed Job fit", all(asJob(indexed(ptr.To[int32](10), 1)), name(61)), nil},
		{"the hostnames of an Indexed Job do not fit", all(asJob(indexed(ptr.To[int32](11), 1)), name(61)), []string{"Invalid value: spec.job.completions"}},
		{"a Job has a name of up to 63 characters", all(asJob(nil), name(63)), nil},
		{"a Deployment is no Job", func(box *model.ModelBox) { box.Spec.Job = &model.ModelBoxJobSpec{} }, []string{"Forbidden: spec.job"}},
		{"a Job has no schedule", all(asJob(nil), func(box *model.ModelBox) { box.Spec.CronJob = &model.ModelBoxCronJobSpec{Schedule: "@daily"} }), []string{"Forbidden: spec.cronJob"}},
		{"a Job has nothing of pods that run all the time", all(asJob(nil), func(box *model.ModelBox) {
			spec := &box.Spec
			spec.Replicas, spec.MinReadySeconds, spec.ProgressDeadlineSeconds, spec.RevisionHistoryLimit = ptr.To[int32](1), ptr.To[int32](3), ptr.To[int32](60), ptr.To[int32](1)
			spec.Before, spec.Rollout = &model.ModelBoxJob{Args: []string{"migrate"}}, &model.ModelBoxRollout{OnFailure: "None", MaxRestarts: ptr.To[int32](3)}
			spec.Resize = &model.ModelBoxResize{Mode: model.ResizeInPlaceOrRestart}
			spec.Autoscaling = &model.ModelBoxAutoscaling{MinReplicas: ptr.To[int32](1), MaxReplicas: 2, CPU: ptr.To[int32](50)}
			spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{MaxUnavailable: ptr.To(intstr.FromInt32(1))}
			spec.Strategy, spec.PodManagementPolicy = model.StrategyRecreate, ptr.To(model.PodManagementParallel)
		}), []string{
			"Invalid value: spec.strategy", "Forbidden: spec.podManagementPolicy", "Forbidden: spec.replicas", "Forbidden: spec.minReadySeconds",
			"Forbidden: spec.progressDeadlineSeconds", "Forbidden: spec.revisionHistoryLimit", "Forbidden: spec.resize", "Forbidden: spec.before",
			"Forbidden: spec.autoscaling", "Forbidden: spec.disruptionBudget",
		}},
		{"a Job has no rollout", all(asJob(nil), func(box *model.ModelBox) {
			box.Spec.Rollout = &model.ModelBoxRollout{OnFailure: "None", MaxRestarts: ptr.To[int32](3)}
		}), []string{"Forbidden: spec.rollout"}},
	})
}

func TestCronJobWorkload(t *testing.T) {
	timeZone := func(name string) func(*model.ModelBoxCronJobSpec) {
		return func(cronJob *model.ModelBoxCronJobSpec) { cronJob.TimeZone = &name }
	}
	const schedule, zone = "spec.cronJob.schedule", "spec.cronJob.timeZone"
	check(t, []row{
		{"a schedule is accepted", asCronJob("30 2 * * MON-FRI"), nil},
		{"a schedule in words is accepted", asCronJob("@daily"), nil},
		{"a CronJob has a schedule", all(asCronJob(""), func(box *model.ModelBox) { box.Spec.CronJob = nil }), []string{"Required value: spec.cronJob"}},
		{"a schedule is not empty", asCronJob(""), []string{"Required value: " + schedule}},
		{"a schedule has five fields", asCronJob("30 2 * *"), []string{"Invalid value: " + schedule}},
		{"a schedule has no time that does not exist", asCronJob("61 2 * * *"), []string{"Invalid value: " + schedule}},
		{"a schedule has no time zone", asCronJob("TZ=Etc/UTC 30 2 * * *"), []string{"Invalid value: " + schedule}},
		{"a schedule is no time zone", asCronJob("TZ="), []string{"Invalid value: " + schedule}},
		{"a time zone is accepted", asCronJob("@daily", timeZone("America/Argentina/Buenos_Aires")), nil},
		{"a time zone is not empty", asCronJob("@daily", timeZone("")), []string{"Invalid value: " + zone}},
		{"a time zone exists", asCronJob("@daily", timeZone("Europe/Atlantis")), []string{"Invalid value: " + zone}},
		{"a time zone is no file", asCronJob("@daily", timeZone("../etc/passwd")), []string{"Invalid value: " + zone}},
		{"a time zone is not the one of a node", asCronJob("@daily", timeZone("local")), []string{"Invalid value: " + zone}},
		{"numbers are in their ranges", asCronJob("@daily", func(cronJob *model.ModelBoxCronJobSpec) {
			cronJob.StartingDeadlineSeconds, cronJob.SuccessfulJobsHistoryLimit, cronJob.FailedJobsHistoryLimit = ptr.To[int64](-1), ptr.To[int32](-1), ptr.To[int32](-1)
			cronJob.ConcurrencyPolicy = ptr.To(model.ConcurrencyPolicy("Queue"))
		}), []string{
			"Unsupported value: spec.cronJob.concurrencyPolicy", "Invalid value: spec.cronJob.startingDeadlineSeconds",
			"Invalid value: spec.cronJob.successfulJobsHistoryLimit", "Invalid value: spec.cronJob.failedJobsHistoryLimit",
		}},
		{"a CronJob limits its Jobs", all(asCronJob("@daily"), func(box *model.ModelBox) { box.Spec.Job = &model.ModelBoxJobSpec{BackoffLimit: ptr.To[int32](1)} }), nil},
		{"a CronJob has a name of up to 52 characters", all(asCronJob("@daily"), name(52)), nil},
		{"a CronJob has no name of 53 characters", all(asCronJob("@daily"), name(53)), []string{"Invalid value: metadata.name"}},
		{"a DaemonSet has no schedule", all(workload(model.WorkloadDaemonSet), func(box *model.ModelBox) {
			box.Spec.CronJob = &model.ModelBoxCronJobSpec{Schedule: "@daily"}
		}), []string{"Forbidden: spec.cronJob"}},
	})
}

// The pods of a Job end. The pods of any other workload run until they are stopped.
func TestPodTemplateOfAJob(t *testing.T) {
	template := func(policy corev1.RestartPolicy, deadline *int64) *corev1.PodTemplateSpec {
		template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "web", Image: "nginx:1.7.9"}}, RestartPolicy: policy, ActiveDeadlineSeconds: deadline,
		}}
		template.Labels = map[string]string{"modelbox": "web"}
		return template
	}
	const restartPolicy, deadline = ": template.spec.restartPolicy", ": template.spec.activeDeadlineSeconds"
	for _, row := range []struct {
		name     string
		workload model.Workload
		template *corev1.PodTemplateSpec
		want     []string
	}{
		{"it never restarts", model.WorkloadJob, template(corev1.RestartPolicyNever, ptr.To[int64](60)), nil},
		{"it restarts on failure", model.WorkloadCronJob, template(corev1.RestartPolicyOnFailure, nil), nil},
		{"it always restarts", model.WorkloadJob, template(corev1.RestartPolicyAlways, nil), []string{"Unsupported value" + restartPolicy}},
		{"it has no time", model.WorkloadJob, template("", ptr.To[int64](0)), []string{"Invalid value" + deadline}},
		{"a Deployment that ends", model.WorkloadDeployment, template(corev1.RestartPolicyNever, ptr.To[int64](60)), []string{"Unsupported value" + restartPolicy, "Forbidden" + deadline}},
	} {
		box := validBox()
		box.Spec.Workload = row.workload
		errs := ValidatePodTemplate(t.Context(), row.template, box, field.NewPath("template"))
		if got := typesAndFields(errs); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}
