// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// PromoteREST is the promote subresource. A rollout in steps continues with its next step, or with all pods.
type PromoteREST struct{ rolloutUpdater }

var _ rest.NamedCreater = &PromoteREST{}

// New returns an empty ModelBoxPromotion.
func (*PromoteREST) New() runtime.Object { return &model.ModelBoxPromotion{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*PromoteREST) Destroy() {}

// Create promotes the rollout of the box of the name. A box that is paused, or being deleted, and one whose rollout is in no step are
// refused with 409.
func (r *PromoteREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	promotion, err := subresource.Sent[*model.ModelBoxPromotion]("ModelBoxPromotion", name, obj)
	if err != nil {
		return nil, err
	}
	promotion.Status = model.ModelBoxPromotionStatus{}
	if err := subresource.Validate(ctx, promotion, createValidation); err != nil {
		return nil, err
	}
	box, err := r.update(ctx, name, options, rolloutChange{
		subresource: "promote",
		change: func(box *model.ModelBox, rollout *model.ModelBoxRolloutStatus) error {
			return promote(box, rollout, promotion.Full)
		},
		reason: "Promoted", action: "Promote", note: promotionNote,
	})
	if err != nil {
		return nil, err
	}
	return &model.ModelBoxPromotion{
		ObjectMeta: subresource.AnswerMeta(box),
		Full:       promotion.Full,
		Status:     model.ModelBoxPromotionStatus{Step: *box.Status.Rollout.Step, Generation: box.Generation},
	}, nil
}

// promote takes the rollout to its next step, or beyond the last one.
func promote(box *model.ModelBox, rollout *model.ModelBoxRolloutStatus, isFull bool) error {
	switch {
	case rollout.Step == nil || box.Spec.Rollout == nil:
		return errors.New("its rollout is not in steps")
	case rollout.Phase != model.RolloutProgressing:
		return errors.New("its rollout has failed (retry or abort it)")
	}
	count := helper.StepCount(len(box.Spec.Rollout.Steps))
	if *rollout.Step > count {
		return errors.New("its rollout has no more steps")
	}
	next := *rollout.Step + 1
	if isFull {
		next = count + 1
	}
	rollout.Step, rollout.NextStepAt = ptr.To(next), nil
	return nil
}

// promotionNote names the step that the rollout was promoted to.
func promotionNote(box *model.ModelBox) string {
	step, count := *box.Status.Rollout.Step, helper.StepCount(len(box.Spec.Rollout.Steps))
	if step > count {
		return "User %q promoted the rollout to all pods"
	}
	return fmt.Sprintf("User %%q promoted the rollout to step %d of %d", step, count)
}
