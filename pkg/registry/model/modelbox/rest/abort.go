// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// AbortREST is the abort subresource: the pods of a box get the stable revision back in the middle of a rollout.
type AbortREST struct{ rolloutUpdater }

var _ rest.NamedCreater = &AbortREST{}

// New returns an empty ModelBoxAbort.
func (*AbortREST) New() runtime.Object { return &model.ModelBoxAbort{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*AbortREST) Destroy() {}

// Create aborts the rollout of the box of the name. A box that is paused, or being deleted, one that no rollout is under way of, and
// one whose stable pods are not known are refused with 409.
func (r *AbortREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	abort, err := subresource.Sent[*model.ModelBoxAbort]("ModelBoxAbort", name, obj)
	if err != nil {
		return nil, err
	}
	abort.Status = model.ModelBoxAbortStatus{}
	if err := subresource.Validate(ctx, abort, createValidation); err != nil {
		return nil, err
	}
	message := "a user aborted it"
	if user, ok := genericapirequest.UserFrom(ctx); ok {
		message = fmt.Sprintf("user %q aborted it", user.GetName())
	}
	box, err := r.update(ctx, name, options, rolloutChange{
		subresource: "abort",
		change: func(box *model.ModelBox, rollout *model.ModelBoxRolloutStatus) error {
			return abortRollout(box, rollout, message)
		},
		reason: "Aborted", action: "Abort", note: func(*model.ModelBox) string { return "User %q aborted the rollout" },
	})
	if err != nil {
		return nil, err
	}
	return &model.ModelBoxAbort{
		ObjectMeta: subresource.AnswerMeta(box),
		Status:     model.ModelBoxAbortStatus{StableGeneration: box.Status.Rollout.Stable.Generation, Generation: box.Generation},
	}, nil
}

// abortRollout rolls the rollout back, as one that has failed. The controller takes the candidate away.
func abortRollout(box *model.ModelBox, rollout *model.ModelBoxRolloutStatus, message string) error {
	asked := box.Spec.Rollout
	switch {
	case rollout.Phase == model.RolloutRolledBack:
		return errors.New("its rollout is rolled back already")
	case asked == nil || rollout.Phase == "" || rollout.Phase == model.RolloutComplete:
		return errors.New("it has no rollout in progress")
	case rollout.Stable == nil || rollout.Stable.PodsHash == rollout.PodsHash:
		return errors.New("it has no earlier revision whose rollout was complete")
	case asked.OnFailure != model.RolloutFailureRollback && asked.Type == nil:
		return errors.New("its stable revision is not kept (set spec.rollout.onFailure to Rollback)")
	}
	rollout.Phase, rollout.Reason, rollout.Message = model.RolloutRolledBack, modelv1.RolloutAborted, message
	rollout.Step, rollout.Weight, rollout.NextStepAt = nil, nil, nil
	rollout.FailedRevisions = slices.DeleteFunc(slices.Clone(rollout.FailedRevisions), func(failed model.ModelBoxFailedRevision) bool {
		return failed.PodsHash == rollout.PodsHash
	})
	rollout.FailedRevisions = append(rollout.FailedRevisions, model.ModelBoxFailedRevision{
		PodsHash: rollout.PodsHash, Generation: box.Generation, Reason: modelv1.RolloutAborted,
	})
	rollout.FailedRevisions = rollout.FailedRevisions[max(0, len(rollout.FailedRevisions)-modelv1.MaxFailedRevisions):]
	return nil
}
