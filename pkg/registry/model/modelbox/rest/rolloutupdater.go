// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/events"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// rolloutUpdater changes the rollout in the status of a box for a subresource. The controller finds the change there.
type rolloutUpdater struct {
	statuses *subresource.Updater[*model.ModelBox]
	recorder events.EventRecorder
}

// rolloutChange is what a subresource changes, and the event about it.
type rolloutChange struct {
	// subresource is its name, such as promote, which is what it does as well.
	subresource string
	// change changes a copy of the rollout, which is not nil. Its error is why there is nothing to change, which is answered with 409.
	change func(box *model.ModelBox, rollout *model.ModelBoxRolloutStatus) error
	// reason, action and note are fields of the event about the changed box. The note has a %q for the name of the user.
	reason, action string
	note           func(box *model.ModelBox) string
}

// update makes the change, and returns the changed box. It refuses a box that is paused, or is being deleted, with 409.
func (u *rolloutUpdater) update(ctx context.Context, name string, options *metav1.CreateOptions, change rolloutChange) (*model.ModelBox, error) {
	box, err := u.statuses.Update(ctx, name, options, func(box *model.ModelBox) error {
		rollout := box.Status.Rollout.DeepCopy()
		if rollout == nil {
			rollout = &model.ModelBoxRolloutStatus{}
		}
		if err := canChangeRollout(box, change.subresource); err != nil {
			return apierrors.NewConflict(model.Resource("modelboxes/"+change.subresource), name, err)
		}
		if err := change.change(box, rollout); err != nil {
			return apierrors.NewConflict(model.Resource("modelboxes/"+change.subresource), name, err)
		}
		box.Status.Rollout = rollout
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !dryrun.IsDryRun(options.DryRun) {
		recordEvent(ctx, u.recorder, box, change.reason, change.action, change.note(box))
	}
	return box, nil
}

// canChangeRollout returns an error if the controller would not continue with a rollout of the box.
func canChangeRollout(box *model.ModelBox, verb string) error {
	switch {
	case box.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case box.Spec.Paused:
		return errors.New("can't " + verb + " paused modelbox (set spec.paused to false first)")
	}
	return nil
}
