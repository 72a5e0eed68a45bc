// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestDiffJobs(t *testing.T) {
	job := func(jobType modelv1.JobType, name string) *unstructured.Unstructured {
		job := &unstructured.Unstructured{}
		job.SetAPIVersion("batch/v1")
		job.SetKind("Job")
		job.SetName(name)
		job.SetLabels(map[string]string{modelv1.JobTypeLabel: string(jobType)})
		return job
	}
	diff := func(name string, action modelv1.ModelBoxDiffAction, effect string) modelv1.ModelBoxChildDiff {
		return modelv1.ModelBoxChildDiff{APIVersion: "batch/v1", Kind: "Job", Name: name, Action: action, Effect: effect}
	}
	const untilBefore, untilAfter = ": no new pod starts until it has succeeded", ": the rollout is complete when it has succeeded"
	pending := []*unstructured.Unstructured{job(modelv1.JobBefore, "web-before-1"), job(modelv1.JobAfter, "web-after-1")}
	for _, row := range []struct {
		name    string
		box     *model.ModelBox
		rollout *modelv1.ModelBoxRolloutStatus
		want    []modelv1.ModelBoxChildDiff
	}{
		{"new Jobs", webBox(), nil, []modelv1.ModelBoxChildDiff{
			diff("web-before-1", modelv1.DiffActionCreate, "runs the Job of spec.before"+untilBefore),
			diff("web-after-1", modelv1.DiffActionCreate, "runs the Job of spec.after"+untilAfter)}},
		{"a Job that runs", webBox(), &modelv1.ModelBoxRolloutStatus{Jobs: []modelv1.ModelBoxRolloutJob{{Name: "web-before-1"}, {Name: "web-after-0"}}}, []modelv1.ModelBoxChildDiff{
			diff("web-before-1", modelv1.DiffActionNone, ""),
			diff("web-after-1", modelv1.DiffActionCreate, "runs the Job of spec.after"+untilAfter)}},
		{"a paused box", webBox(func(box *model.ModelBox) { box.Spec.Paused = true }), nil, []modelv1.ModelBoxChildDiff{
			diff("web-before-1", modelv1.DiffActionCreate, "will run the Job of spec.before when the box is unpaused"+untilBefore),
			diff("web-after-1", modelv1.DiffActionCreate, "will run the Job of spec.after when the box is unpaused"+untilAfter)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, DiffJobs(row.box, row.rollout, pending)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
