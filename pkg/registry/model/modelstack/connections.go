// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// connectedChanges returns what helper.BoxChanges does, of boxes that have what connects them to other components: a change of
// one component so is one of the boxes that depend on it. old is nil for a new stack.
func connectedChanges(stack, old *model.ModelStack) ([]helper.BoxChange, error) {
	connected, err := connectedStack(stack)
	if err != nil {
		return nil, err
	}
	var oldConnected *model.ModelStack
	if old != nil {
		if oldConnected, err = connectedStack(old); err != nil {
			return nil, err
		}
	}
	return helper.BoxChanges(connected, oldConnected)
}

// connectedStack returns the stack with the boxes that the controller will make, but for their defaults.
func connectedStack(stack *model.ModelStack) (*model.ModelStack, error) {
	served := &modelv1.ModelStack{}
	if err := modelv1.Convert_model_ModelStack_To_v1_ModelStack(stack.DeepCopy(), served, nil); err != nil {
		return nil, fmt.Errorf("converting the stack: %w", err)
	}
	renderer := modelstackrender.NewRenderer(served)
	boxes := make([]*modelv1.ModelBoxSpec, len(served.Spec.Components))
	for i := range served.Spec.Components {
		boxes[i] = renderer.ConnectedBox(&served.Spec.Components[i])
	}
	for i, box := range boxes {
		served.Spec.Components[i].Box = box
	}
	connected := &model.ModelStack{}
	if err := modelv1.Convert_v1_ModelStack_To_model_ModelStack(served, connected, nil); err != nil {
		return nil, fmt.Errorf("converting the stack: %w", err)
	}
	return connected, nil
}
