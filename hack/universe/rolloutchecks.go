// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// observeRolloutChecks checks that a controller takes a rollout to its next step only after enough measurements without errors, and that
// pods without errors fail no check.
func (c *checks) observeRolloutChecks(change store.Change, box *model.ModelBox) {
	before, _ := change.Before.(*model.ModelBox)
	last, next := rolloutOf(before), rolloutOf(box)
	measured := c.world.prometheus.MeasurementsWithoutErrors(box.Name)
	since := measured - c.measuredBefore[box.UID]
	isSameStep := ptr.Equal(last.Step, next.Step) && last.PodsHash == next.PodsHash
	if !isSameStep {
		c.measuredBefore[box.UID] = measured
	}
	if before == nil || !c.isController() || box.Status.ObservedGeneration != box.Generation || before.Status.ObservedGeneration != box.Generation || box.Spec.Rollout == nil {
		return
	}
	for _, check := range box.Spec.Rollout.Checks {
		hasAdvanced := last.PodsHash == next.PodsHash && last.Step != nil && next.Step != nil && *next.Step == *last.Step+1
		if hasAdvanced && since < int(*check.Count) {
			c.violate("no rollout goes on before its checks are met", "box %s: %d of %d measurements in step %d", box.Name, since, *check.Count, *last.Step)
		}
	}
	if next.Reason == modelv1.ReasonCheckFailed && last.Reason != next.Reason && !cluster.HasErrors(box.Spec.Image) {
		c.violate("no check fails without errors", "box %s of generation %d with image %s: %s", box.Name, box.Generation, box.Spec.Image, next.Message)
	}
}

// rolloutOf returns the rollout of the box, which may be nil and without a rollout.
func rolloutOf(box *model.ModelBox) *model.ModelBoxRolloutStatus {
	if box == nil || box.Status.Rollout == nil {
		return &model.ModelBoxRolloutStatus{}
	}
	return box.Status.Rollout
}
