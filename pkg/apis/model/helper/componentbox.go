// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ComponentBox returns the box of a component of the stack as the API keeps it, which is with the defaults that the stack
// leaves to the box, and without what connects it to other components. It is nil for a component without a box. The stack
// stays as it is.
func ComponentBox(stack *model.ModelStack, component *model.ModelStackComponent) (*model.ModelBox, error) {
	if component.Box == nil {
		return nil, nil
	}
	served := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: component.BoxName, Namespace: stack.Namespace}}
	if err := modelv1.Convert_model_ModelBoxSpec_To_v1_ModelBoxSpec(component.Box.DeepCopy(), &served.Spec, nil); err != nil {
		return nil, fmt.Errorf("converting the box of component %s: %w", component.Name, err)
	}
	modelv1.SetObjectDefaults_ModelBox(served)
	box := &model.ModelBox{}
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(served, box, nil); err != nil {
		return nil, fmt.Errorf("converting the box of component %s: %w", component.Name, err)
	}
	return box, nil
}
