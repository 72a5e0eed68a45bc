// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// observeRolloutChecks checks that a controller takes a rollout to its next step only after enough measurements without errors, and that
// no check fails for pods without errors.
func (c *checks) observeRolloutChecks(change store.Change, box *model.ModelBox) {
	before, _ := change.Before.(*model.ModelBox)
	last, next := rolloutOf(before), rolloutOf(box)
	all := c.world.prometheus.MeasurementsWithoutErrors(box.Name)
	inStep := all - c.measuredBefore[box.UID]
	isSameRevision := last.PodsHash == next.PodsHash
	if !isSameRevision || !ptr.Equal(last.Step, next.Step) {
		c.measuredBefore[box.UID] = all
	}
	isObserved := func(box *model.ModelBox) bool { return box != nil && box.Status.ObservedGeneration == box.Generation }
	if !c.isController() || !isObserved(before) || !isObserved(box) || box.Spec.Rollout == nil {
		return
	}
	if isSameRevision && last.Step != nil && next.Step != nil && *next.Step > *last.Step {
		for _, check := range box.Spec.Rollout.Checks {
			if inStep < int(*check.Count) {
				c.violate("no rollout continues before its checks are met", "box %s: %d of %d measurements in step %d", box.Name, inStep, *check.Count, *last.Step)
			}
		}
	}
	if next.Reason == modelv1.ReasonCheckFailed && last.Reason != next.Reason && !cluster.HasErrors(box.Spec.Image) {
		c.violate("no check fails without errors", "box %s of generation %d with image %s: %s", box.Name, box.Generation, box.Spec.Image, next.Message)
	}
}

// isMeasurementForUser returns whether the change is a measurement in a step that only a user ends. The measurements end with the step.
func isMeasurementForUser(change store.Change) bool {
	before, _ := change.Before.(*model.ModelBox)
	after, _ := change.After.(*model.ModelBox)
	return before != nil && after != nil && isInManualStep(after) && !apiequality.Semantic.DeepEqual(rolloutOf(before).Checks, rolloutOf(after).Checks)
}

// rolloutOf returns the rollout of the box, which may be nil and without a rollout.
func rolloutOf(box *model.ModelBox) *model.ModelBoxRolloutStatus {
	if box == nil || box.Status.Rollout == nil {
		return &model.ModelBoxRolloutStatus{}
	}
	return box.Status.Rollout
}
