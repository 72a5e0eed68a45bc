// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Differ compares the live children of a box with those that it asks for.
type Differ interface {
	// Diff compares the live children with the rendered ones, in their order, and after them come those that the box asks for
	// no more. It has all fields that differ, and no effects. Of kinds that mayGet is false for nothing is read.
	Diff(ctx context.Context, box *modelv1.ModelBox, rendered []*unstructured.Unstructured, mayGet func(schema.GroupVersionResource) bool) ([]modelv1.ModelBoxChildDiff, error)
}

// DiffEffect returns what the action on a child of a box does to what runs, where the box was old before: in the words of the
// warnings of an update. It is empty where nothing that runs is concerned.
func DiffEffect(box, old *model.ModelBox, child *modelv1.ModelBoxChildDiff, resize *modelboxrender.Resize) string {
	isJob := child.APIVersion == batchv1.SchemeGroupVersion.String()
	isWorkload := (isJob || child.APIVersion == appsv1.SchemeGroupVersion.String()) && child.Name == box.Name // and not the candidate beside it
	switch child.Action {
	case modelv1.DiffActionReplace:
		if isJob {
			return timed(box, "replace", "the "+child.Kind+andItsPods(old, true), warn.RunsAgain)
		}
		return timed(box, "replace", "the "+child.Kind+andItsPods(old, isWorkload && child.Kind != "StatefulSet"), "")
	case modelv1.DiffActionDelete:
		return timed(box, "delete", "the "+child.Kind+andItsPods(old, isWorkload), "")
	case modelv1.DiffActionUpdate:
		count := replacedPods(box, old)
		switch {
		case !isWorkload || !changesTemplate(child) || count == 0:
			return ""
		case resize != nil:
			text, _ := describeResize(box, resize.Live, resize.Wanted, countedPods(count))
			return text
		case child.Kind == "StatefulSet":
			return rolls(box, old, countedPods(count), count, "")
		default: // While a rollout is in steps, a Deployment has the template of the stable pods.
			return timed(box, "roll", countedPods(count), replacedAtATime(&box.Spec, count))
		}
	}
	return ""
}

// DiffJobs returns what becomes of the Jobs that the rollout of the box still has to run. The status of the rollout has the Jobs that were
// created.
func DiffJobs(box *model.ModelBox, rollout *modelv1.ModelBoxRolloutStatus, pending []*unstructured.Unstructured) []modelv1.ModelBoxChildDiff {
	var diffs []modelv1.ModelBoxChildDiff
	for _, job := range pending {
		diff := modelv1.ModelBoxChildDiff{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: job.GetName(), Action: modelv1.DiffActionNone}
		isCreated := rollout != nil && slices.ContainsFunc(rollout.Jobs, func(created modelv1.ModelBoxRolloutJob) bool {
			return created.Name == job.GetName()
		})
		switch jobType := modelv1.JobType(job.GetLabels()[modelv1.JobTypeLabel]); {
		case isCreated:
		case jobType == modelv1.JobBefore:
			diff.Action, diff.Effect = modelv1.DiffActionCreate, timed(box, "run", "the Job of spec.before", ": no new pod starts until it has succeeded")
		default:
			diff.Action, diff.Effect = modelv1.DiffActionCreate, timed(box, "run", "the Job of spec.after", ": the rollout is complete when it has succeeded")
		}
		diffs = append(diffs, diff)
	}
	return diffs
}

// timed says what is done to what, now or when the box is unpaused.
func timed(box *model.ModelBox, verb, what, how string) string {
	if box.Spec.Paused {
		return fmt.Sprintf("will %s %s when the box is unpaused%s", verb, what, how)
	}
	return fmt.Sprintf("%ss %s%s", verb, what, how)
}

// andItsPods says that pods go with a workload. The pods of a StatefulSet that is replaced stay for the next one.
func andItsPods(old *model.ModelBox, isGone bool) string {
	if !isGone || old.Status.Replicas == 0 {
		return ""
	}
	return " and its " + countedPods(old.Status.Replicas)
}

// changesTemplate returns whether a field of the pod template is not left as it is.
func changesTemplate(child *modelv1.ModelBoxChildDiff) bool {
	for i := range child.Fields {
		if field := &child.Fields[i]; !field.Ignored && strings.HasPrefix(field.Path, "spec.template.") {
			return true
		}
	}
	return false
}
