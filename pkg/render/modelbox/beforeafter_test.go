// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/rendertest"
)

func TestJobsOfABox(t *testing.T) {
	const input = "testdata/jobs.box.yaml"
	data, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	box := &modelv1.ModelBox{}
	if err := yaml.UnmarshalStrict(data, box); err != nil {
		t.Fatal(err)
	}
	box.Namespace, box.UID = "default", "0b6d1f0e-8d56-4a9e-9f2b-3a1b2c3d4e5f"
	modelv1.SetObjectDefaults_ModelBox(box)
	podsHash, err := PodsHash(box)
	if err != nil {
		t.Fatal(err)
	}
	for _, jobType := range []modelv1.JobType{modelv1.JobBefore, modelv1.JobAfter} {
		job, err := Job(box, jobType, podsHash)
		if err != nil {
			t.Fatal(err)
		}
		got, err := yaml.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		rendertest.ExpectGolden(t, "testdata/jobs/"+strings.ToLower(string(jobType))+rendertest.GoldenSuffix, input, string(got))
	}
}

// A Job has another name for other pods and for another command, and the same name otherwise.
func TestJobName(t *testing.T) {
	name := func(change func(*modelv1.ModelBox)) string {
		box := webBox(t)
		box.Spec.Before = &modelv1.ModelBoxJob{Args: []string{"migrate"}}
		change(box)
		podsHash, err := PodsHash(box)
		if err != nil {
			t.Fatal(err)
		}
		name, err := JobName(box, modelv1.JobBefore, podsHash)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	same := name(func(*modelv1.ModelBox) {})
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		isSame bool
	}{
		{"the number of pods", func(box *modelv1.ModelBox) { *box.Spec.Replicas++ }, true},
		{"the Job after", func(box *modelv1.ModelBox) { box.Spec.After = &modelv1.ModelBoxJob{Args: []string{"test"}} }, true},
		{"the image", func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" }, false},
		{"the command", func(box *modelv1.ModelBox) { box.Spec.Before.Args = []string{"mend"} }, false},
		{"the box", func(box *modelv1.ModelBox) { box.UID = "another" }, false},
	} {
		if other := name(row.change); (other == same) != row.isSame {
			t.Errorf("another %s: Job %s, before Job %s", row.name, other, same)
		}
	}
	if got := name(func(box *modelv1.ModelBox) { box.Spec.Before = nil }); got != "" {
		t.Errorf("a box without a Job has Job %s", got)
	}
	if long := helper.JobName(strings.Repeat("a", 40)+strings.Repeat("-", 20)+"b", modelv1.JobBefore, "0123456789"); len(validation.IsDNS1123Label(long)) > 0 || strings.Contains(long, "--") {
		t.Errorf("the name of a Job is %q", long)
	}
}

func TestPendingJobs(t *testing.T) {
	newBox := func() *modelv1.ModelBox {
		box := webBox(t)
		box.UID = "0b6d1f0e-8d56-4a9e-9f2b-3a1b2c3d4e5f"
		box.Spec.Rollout = &modelv1.ModelBoxRollout{}
		box.Spec.Before = &modelv1.ModelBoxJob{Args: []string{"migrate"}}
		box.Spec.After = &modelv1.ModelBoxJob{Args: []string{"test"}}
		return box
	}
	hash, err := PodsHash(newBox())
	if err != nil {
		t.Fatal(err)
	}
	job := func(jobType modelv1.JobType, phase modelv1.JobPhase) modelv1.ModelBoxRolloutJob {
		return modelv1.ModelBoxRolloutJob{Type: jobType, PodsHash: hash, Phase: phase}
	}
	both := []string{"Before", "After"}
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		want   []string
	}{
		{"no Jobs", func(box *modelv1.ModelBox) { box.Spec.Before, box.Spec.After = nil, nil }, nil},
		{"a box without a status", func(*modelv1.ModelBox) {}, both},
		{"other pods than the stable ones", func(box *modelv1.ModelBox) {
			box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{Stable: &modelv1.ModelBoxRolloutRevision{PodsHash: "other"}}
		}, both},
		{"stable pods", func(box *modelv1.ModelBox) {
			box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{PodsHash: hash, Stable: &modelv1.ModelBoxRolloutRevision{PodsHash: hash}}
		}, nil},
		{"a Job that runs", func(box *modelv1.ModelBox) {
			box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{PodsHash: hash, Jobs: []modelv1.ModelBoxRolloutJob{job(modelv1.JobBefore, modelv1.JobRunning)}}
		}, both},
		{"a Job that has succeeded", func(box *modelv1.ModelBox) {
			box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{PodsHash: hash, Jobs: []modelv1.ModelBoxRolloutJob{job(modelv1.JobBefore, modelv1.JobSucceeded)}}
		}, []string{"After"}},
		{"a rollout that was rolled back", func(box *modelv1.ModelBox) {
			box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{PodsHash: hash, Phase: modelv1.RolloutRolledBack}
		}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := newBox()
			row.change(box)
			jobs, err := PendingJobs(box, Live{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, job := range jobs {
				got = append(got, job.GetLabels()[modelv1.JobTypeLabel])
				if name, err := JobName(box, modelv1.JobType(got[len(got)-1]), hash); err != nil || job.GetName() != name || job.GetKind() != "Job" {
					t.Errorf("got %s %s, want Job %s (%v)", job.GetKind(), job.GetName(), name, err)
				}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
