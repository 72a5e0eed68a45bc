// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestJobs(t *testing.T) {
	type job = model.ModelBoxJob
	before := func(change func(*job)) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.Before = &job{Command: []string{"./migrate"}, BackoffLimit: ptr.To[int32](6), ActiveDeadlineSeconds: ptr.To[int64](3600)}
			change(box.Spec.Before)
		}
	}
	workload := func(workload model.Workload) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.Workload, box.Spec.RollingUpdate = workload, nil
			if workload == model.WorkloadDaemonSet {
				box.Spec.Replicas = nil
			}
		}
	}
	nothing := func(*job) {}
	image := func(image string) func(*job) { return func(job *job) { job.Image = image } }
	env := func(variables ...corev1.EnvVar) func(*job) { return func(job *job) { job.Envs = variables } }
	fileOf := func(volume string) corev1.EnvVar {
		return corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: volume, Path: "a", Key: "A"}}}
	}
	resources := func(resources corev1.ResourceRequirements) func(*job) {
		return func(job *job) { job.Resources = &resources }
	}
	memory := func(size string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(size)}
	}

	check(t, []row{
		{"a command before the pods", before(nothing), nil},
		{"a command after the rollout", func(box *model.ModelBox) { box.Spec.After = &job{Command: []string{"./test"}} }, nil},
		{"a command of a StatefulSet", all(before(nothing), workload(model.WorkloadStatefulSet)), nil},
		{"a command of a DaemonSet", all(before(nothing), workload(model.WorkloadDaemonSet)), nil},
		{"arguments only", before(func(job *job) { job.Command, job.Args = nil, []string{"migrate"} }), nil},
		{"neither a command nor arguments", before(func(job *job) { job.Command = nil }), []string{"Required value: spec.before.command"}},
		{"neither of both after the rollout", func(box *model.ModelBox) { box.Spec.After = &job{} }, []string{"Required value: spec.after.command"}},

		{"another image", before(image("registry.example.com/migrations:1.4")), nil},
		{"no image of the box", all(before(nothing), func(box *model.ModelBox) { box.Spec.Image = "" }), []string{"Required value: spec.image"}},
		{"an image with space around it", before(image(" migrations:1.4")), []string{"Invalid value: spec.before.image"}},
		{"an image that is none", before(image("Migrations:1.4")), []string{"Invalid value: spec.before.image"}},

		{"a variable", before(env(corev1.EnvVar{Name: "A", Value: "1"})), nil},
		{"a variable that the box has as well", all(before(env(corev1.EnvVar{Name: "A", Value: "1"})), func(box *model.ModelBox) {
			box.Spec.Envs = []corev1.EnvVar{{Name: "A", Value: "2"}}
		}), nil},
		{"a variable without a name", before(env(corev1.EnvVar{Value: "1"})), []string{"Required value: spec.before.envs[0].name"}},
		{"the same variable twice", before(env(corev1.EnvVar{Name: "A"}, corev1.EnvVar{Name: "A"})), []string{"Duplicate value: spec.before.envs[1].name"}},
		{"a variable from a volume of the box", all(before(env(fileOf("data"))), volume(emptyDir())), nil},
		{"a variable from a volume that is not there", before(env(fileOf("data"))), []string{"Not found: spec.before.envs[0].valueFrom.fileKeyRef.volumeName"}},

		{"resources", before(resources(corev1.ResourceRequirements{Requests: memory("1Gi"), Limits: memory("2Gi")})), nil},
		{"resources beside a type of the box", all(before(resources(corev1.ResourceRequirements{Requests: memory("1Gi")})), func(box *model.ModelBox) {
			box.Spec.ResourceType = model.ResourceTypeSmall
		}), nil},
		{"a request above its limit", before(resources(corev1.ResourceRequirements{Requests: memory("2Gi"), Limits: memory("1Gi")})),
			[]string{"Invalid value: spec.before.resources.requests[memory]"}},
		{"a claim that the pods do not have", before(resources(corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}})),
			[]string{"Forbidden: spec.before.resources.claims"}},

		{"no further attempt", before(func(job *job) { job.BackoffLimit = ptr.To[int32](0) }), nil},
		{"the most attempts", before(func(job *job) { job.BackoffLimit = ptr.To[int32](100) }), nil},
		{"more attempts", before(func(job *job) { job.BackoffLimit = ptr.To[int32](101) }), []string{"Invalid value: spec.before.backoffLimit"}},
		{"a negative number of attempts", before(func(job *job) { job.BackoffLimit = ptr.To[int32](-1) }), []string{"Invalid value: spec.before.backoffLimit"}},
		{"the shortest deadline", before(func(job *job) { job.ActiveDeadlineSeconds = ptr.To[int64](1) }), nil},
		{"the longest deadline", before(func(job *job) { job.ActiveDeadlineSeconds = ptr.To[int64](7 * 24 * 60 * 60) }), nil},
		{"a shorter deadline", before(func(job *job) { job.ActiveDeadlineSeconds = ptr.To[int64](0) }), []string{"Invalid value: spec.before.activeDeadlineSeconds"}},
		{"a longer deadline", before(func(job *job) { job.ActiveDeadlineSeconds = ptr.To[int64](7*24*60*60 + 1) }),
			[]string{"Invalid value: spec.before.activeDeadlineSeconds"}},
		{"errors of both", all(before(image("Migrations")), func(box *model.ModelBox) { box.Spec.After = &job{} }),
			[]string{"Invalid value: spec.before.image", "Required value: spec.after.command"}},
	})
}

func TestLimitsOfJobs(t *testing.T) {
	box := validBox()
	box.Spec.Before = &model.ModelBoxJob{
		Image: strings.Repeat("a", 1025), Command: make([]string, 1025), Args: make([]string, 1025), Envs: make([]corev1.EnvVar, 1025),
	}
	want := []string{"Too long: spec.before.image", "Too many: spec.before.command", "Too many: spec.before.args", "Too many: spec.before.envs"}
	if diff := cmp.Diff(want, typesAndFields(ValidateLimits(box))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A box that an earlier release has stored can change beside a Job that is no longer valid.
func TestJobsRatchet(t *testing.T) {
	old := validBox()
	old.Spec.Before = &model.ModelBoxJob{}
	box := old.DeepCopy()
	box.Spec.MinReadySeconds = ptr.To[int32](4)
	if errs := ValidateModelBoxSpecUpdate(t.Context(), box, old, ObjectPaths.Spec); len(errs) > 0 {
		t.Errorf("a change beside the Job: %v", errs)
	}
	box.Spec.Before.Image = "Migrations:1.4"
	want := []string{"Invalid value: spec.before.image"}
	if diff := cmp.Diff(want, typesAndFields(ValidateModelBoxSpecUpdate(t.Context(), box, old, ObjectPaths.Spec))); diff != "" {
		t.Errorf("a change of the Job, -want +got:\n%s", diff)
	}
}
