// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/subresource"
)

// RestartREST is the restart subresource of stacks: all boxes roll, in the order in which a change of all of them would.
type RestartREST = subresource.RestartREST[*model.ModelStack]

// restart lets the boxes of the stack roll, or returns why they cannot: one that is paused, or being deleted, or has no boxes.
func restart(stack *model.ModelStack, now string) error {
	switch {
	case stack.DeletionTimestamp != nil:
		return errors.New("it is being deleted")
	case stack.Spec.Paused:
		return errors.New("can't restart paused modelstack (set spec.paused to false first)")
	}
	hasBox := false
	for i := range stack.Spec.Components {
		box := stack.Spec.Components[i].Box
		if box == nil || box.Workload.RunsToCompletion() {
			continue
		}
		hasBox = true
		if err := subresource.SetRestartedAt(box, now); err != nil {
			return err
		}
	}
	if !hasBox {
		return errors.New("all its components are external, or Jobs or CronJobs")
	}
	return nil
}
