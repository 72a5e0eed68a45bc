// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// runWarnings says what an update runs again, of a box whose pods run to completion: a Job that the update replaces, or a CronJob that is
// restarted. Any other update of a CronJob is for the next run. Of which box it is is said if of is not empty.
func runWarnings(ctx context.Context, box, old *model.ModelBox, of string) []string {
	if old.Status.ObservedGeneration == 0 {
		return nil
	}
	name := string(box.Spec.Workload) + " " + box.Name
	if of != "" {
		name += " of " + of
	}
	if box.Spec.Workload == model.WorkloadCronJob {
		if restartedAt(box) == "" || restartedAt(box) == restartedAt(old) {
			return nil
		}
		return []string{timed(box, "run", "a Job of "+name, "")}
	}
	isSame, err := haveSameJob(box, old)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Comparing with a Job that cannot be rendered", "box", klog.KObj(old), "err", err)
		return nil
	}
	switch resumes := old.Spec.Paused && !box.Spec.Paused && !isCurrent(old, modelv1.ConditionApplied, modelv1.ReasonApplied); {
	case isSame && resumes:
		name += " if its pods have changed"
	case isSame:
		return nil
	}
	return []string{timed(box, "replace", name, warn.RunsAgain)}
}

// haveSameJob returns whether a change from one of the boxes to the other does not run the Job again.
func haveSameJob(box, other *model.ModelBox) (bool, error) {
	var hashes [2]string
	for i, box := range []*model.ModelBox{box, other} {
		served, err := boxview.V1(box)
		if err != nil {
			return false, err
		}
		if hashes[i], err = modelboxrender.JobTemplateHash(served); err != nil {
			return false, err
		}
	}
	return hashes[0] == hashes[1], nil
}

func restartedAt(box *model.ModelBox) string {
	if box.Spec.PodTemplate == nil {
		return ""
	}
	return box.Spec.PodTemplate.Annotations[modelv1.RestartedAtAnnotation]
}
