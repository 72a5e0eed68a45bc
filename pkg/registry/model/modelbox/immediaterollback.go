// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// ImmediateRollbackStrategy is the logic that applies when a ModelBox is rolled back without the steps of its rollout.
type ImmediateRollbackStrategy struct {
	Strategy
	clock clock.PassiveClock
}

// NewImmediateRollbackStrategy returns the strategy of immediate rollbacks.
func NewImmediateRollbackStrategy(strategy Strategy, clock clock.PassiveClock) ImmediateRollbackStrategy {
	return ImmediateRollbackStrategy{strategy, clock}
}

// PrepareForUpdate does what the strategy of the main resource does, and sets the rollout in the status beyond its last step. If a
// later write did this, the controller would begin with the first step.
func (s ImmediateRollbackStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	s.Strategy.PrepareForUpdate(ctx, obj, old)
	if len(s.ValidateUpdate(ctx, obj, old)) > 0 {
		return // The store refuses the box, which it may not be possible to render.
	}
	box := obj.(*model.ModelBox)
	if rollout := beyondSteps(box, s.clock.Now()); rollout != nil {
		box.Status.Rollout = rollout
	}
}

// beyondSteps returns the rollout of a changed box without its steps. It returns nil if the box has no steps to skip, asks for its
// stable pods, or has skipped the steps already. The box has its former status.
func beyondSteps(box *model.ModelBox, now time.Time) *model.ModelBoxRolloutStatus {
	asked, last := box.Spec.Rollout, box.Status.Rollout
	if asked == nil || asked.Type == nil || last == nil || last.Stable == nil {
		return nil
	}
	served, err := boxview.V1(box)
	if err != nil {
		return nil
	}
	hash, err := modelboxrender.PodsHash(served)
	if err != nil || hash == last.Stable.PodsHash {
		return nil
	}
	if last.PodsHash == hash && last.Phase == model.RolloutProgressing && isBeyondSteps(asked, last) {
		return nil
	}
	return &model.ModelBoxRolloutStatus{
		Phase:           model.RolloutProgressing,
		PodsHash:        hash,
		StartedAt:       metav1.NewTime(now.UTC().Truncate(time.Second)),
		Step:            ptr.To(helper.StepCount(len(asked.Steps)) + 1),
		Stable:          last.Stable,
		FailedRevisions: last.FailedRevisions,
		Candidate:       last.Candidate,
		Traffic:         last.Traffic,
		Jobs:            last.Jobs,
	}
}

func isBeyondSteps(asked *model.ModelBoxRollout, rollout *model.ModelBoxRolloutStatus) bool {
	return rollout.Step != nil && *rollout.Step > helper.StepCount(len(asked.Steps))
}

// leavesOutSteps returns whether an update replaces pods without the steps of the rollout. Only immediate rollbacks change the status
// of a rollout together with the spec.
func leavesOutSteps(box, old *model.ModelBox) bool {
	rollout, before := box.Status.Rollout, old.Status.Rollout
	if rollout == nil || before == nil || box.Spec.Rollout == nil || !isBeyondSteps(box.Spec.Rollout, rollout) {
		return false
	}
	return rollout.PodsHash != before.PodsHash || !ptr.Equal(rollout.Step, before.Step)
}
