// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestJobs(t *testing.T) {
	before := func(job model.ModelBoxJob) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.Before = &job }
	}
	command := []string{"migrate"}
	check(t, []row{
		{"a command is accepted", before(model.ModelBoxJob{Command: command}), nil},
		{"arguments of the image are accepted", before(model.ModelBoxJob{Image: "example.com/migrations:1", Args: command}), nil},
		{"all fields are accepted", before(model.ModelBoxJob{
			Command: command, BackoffLimit: ptr.To[int32](100), ActiveDeadlineSeconds: ptr.To[int64](604800),
			Envs:      []corev1.EnvVar{{Name: "USER", Value: "admin"}},
			Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
		}), nil},
		{"a Job has a command", before(model.ModelBoxJob{Image: "example.com/migrations:1"}), []string{"Required value: spec.before.command"}},
		{"the Job after a rollout has a command", func(box *model.ModelBox) { box.Spec.After = &model.ModelBoxJob{} }, []string{"Required value: spec.after.command"}},
		{"an image has no space", before(model.ModelBoxJob{Command: command, Image: " migrations"}), []string{"Invalid value: spec.before.image"}},
		{"a variable has a name", before(model.ModelBoxJob{Command: command, Envs: []corev1.EnvVar{{Name: "", Value: "x"}}}), []string{"Required value: spec.before.envs[0].name"}},
		{"a request is within its limit", before(model.ModelBoxJob{Command: command, Resources: &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}), []string{"Invalid value: spec.before.resources.requests"}},
		{"a backoff limit is not negative", before(model.ModelBoxJob{Command: command, BackoffLimit: ptr.To[int32](-1)}), []string{"Invalid value: spec.before.backoffLimit"}},
		{"a backoff limit is at most 100", before(model.ModelBoxJob{Command: command, BackoffLimit: ptr.To[int32](101)}), []string{"Invalid value: spec.before.backoffLimit"}},
		{"a deadline is at least a second", before(model.ModelBoxJob{Command: command, ActiveDeadlineSeconds: ptr.To[int64](0)}),
			[]string{"Invalid value: spec.before.activeDeadlineSeconds"}},
		{"a deadline is at most a week", before(model.ModelBoxJob{Command: command, ActiveDeadlineSeconds: ptr.To[int64](604801)}),
			[]string{"Invalid value: spec.before.activeDeadlineSeconds"}},
	})
}
