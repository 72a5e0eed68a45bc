// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// RetryREST is the retry subresource: a rollout that has failed is tried again with the same spec. It is an update of the status, in
// which the controller finds it.
type RetryREST struct {
	statuses *subresource.Updater[*model.ModelBox]
	recorder events.EventRecorder
	clock    clock.PassiveClock
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
	if createValidation != nil {
		if err := createValidation(ctx, retry.DeepCopy()); err != nil {
			return nil, err
		}
	}
	now := metav1.NewTime(r.clock.Now().UTC().Truncate(time.Second))
	box, err := r.statuses.Update(ctx, name, options, func(box *model.ModelBox) error {
		if err := canRetry(box); err != nil {
			return apierrors.NewConflict(model.Resource("modelboxes/retry"), name, err)
		}
		rollout := box.Status.Rollout.DeepCopy()
		rollout.Phase, rollout.StartedAt, rollout.Reason, rollout.Message = model.RolloutProgressing, now, "", ""
		box.Status.Rollout = rollout
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !dryrun.IsDryRun(options.DryRun) {
		recordEvent(ctx, r.recorder, box, "Retried", "Retry", "User %q tried the rollout again")
	}
	return &model.ModelBoxRetry{
		ObjectMeta: subresource.AnswerMeta(box),
		Status:     model.ModelBoxRetryStatus{StartedAt: now, Generation: box.Generation},
	}, nil
}

// canRetry returns why there is no rollout of the box to try again.
func canRetry(box *model.ModelBox) error {
	rollout := box.Status.Rollout
	switch {
	case box.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case box.Spec.Paused:
		return errors.New("can't retry paused modelbox (set spec.paused to false first)")
	case rollout == nil || !modelv1.RolloutPhase(rollout.Phase).HasFailed():
		return errors.New("its rollout has not failed")
	}
	return nil
}
