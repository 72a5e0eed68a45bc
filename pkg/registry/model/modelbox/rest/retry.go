// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// RetryREST is the retry subresource: a rollout that has failed is tried again with the same spec.
type RetryREST struct {
	rolloutUpdater
	clock clock.PassiveClock
}

var _ rest.NamedCreater = &RetryREST{}

// New returns an empty ModelBoxRetry.
func (*RetryREST) New() runtime.Object { return &model.ModelBoxRetry{} }

// Destroy does nothing: the underlying store belongs to REST.
func (*RetryREST) Destroy() {}

// Create tries the rollout of the box of the name again. A box that is paused, or being deleted, and one whose rollout has not
// failed are refused with 409.
func (r *RetryREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	retry, err := subresource.Sent[*model.ModelBoxRetry]("ModelBoxRetry", name, obj)
	if err != nil {
		return nil, err
	}
	retry.Status = model.ModelBoxRetryStatus{}
	if err := subresource.Validate(ctx, retry, createValidation); err != nil {
		return nil, err
	}
	now := metav1.NewTime(r.clock.Now().UTC().Truncate(time.Second))
	box, err := r.update(ctx, name, options, rolloutChange{
		subresource: "retry",
		change: func(_ *model.ModelBox, rollout *model.ModelBoxRolloutStatus) error {
			if !modelv1.RolloutPhase(rollout.Phase).HasFailed() {
				return errors.New("its rollout has not failed")
			}
			rollout.Phase, rollout.StartedAt, rollout.Reason, rollout.Message = model.RolloutProgressing, now, "", ""
			rollout.NextStepAt = nil // of what is taken back
			return nil
		},
		reason: "Retried", action: "Retry", note: func(*model.ModelBox) string { return "User %q tried the rollout again" },
	})
	if err != nil {
		return nil, err
	}
	return &model.ModelBoxRetry{
		ObjectMeta: subresource.AnswerMeta(box),
		Status:     model.ModelBoxRetryStatus{StartedAt: now, Generation: box.Generation},
	}, nil
}
