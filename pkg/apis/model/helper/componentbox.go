// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// ComponentPath returns the path of a component of a stack.
func ComponentPath(i int) *field.Path {
	return field.NewPath("spec", "components").Index(i)
}

// BoxChange is a box that a write of its stack makes or changes.
type BoxChange struct {
	// Component is the component that has the box, at Path in the stack.
	Component *model.ModelStackComponent
	Path      *field.Path
	// Box and Old are as ComponentBox returns them. Old is nil for a new box.
	Box, Old *model.ModelBox
}

// BoxChanges returns the boxes that a write of a stack makes or changes. Boxes are known by their names: one that goes over to
// another component stays the same. old is nil for a new stack.
func BoxChanges(stack, old *model.ModelStack) ([]BoxChange, error) {
	oldComponents := map[string]*model.ModelStackComponent{}
	if old != nil {
		for i := range old.Spec.Components {
			if component := &old.Spec.Components[i]; component.Box != nil {
				oldComponents[component.BoxName] = component
			}
		}
	}
	var changes []BoxChange
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		oldComponent := oldComponents[component.BoxName]
		if component.Box == nil || oldComponent != nil && apiequality.Semantic.DeepEqual(component.Box, oldComponent.Box) {
			continue
		}
		change := BoxChange{Component: component, Path: ComponentPath(i)}
		var err error
		if change.Box, err = ComponentBox(stack, component); err != nil {
			return nil, err
		}
		if oldComponent != nil {
			if change.Old, err = ComponentBox(old, oldComponent); err != nil {
				return nil, err
			}
		}
		changes = append(changes, change)
	}
	return changes, nil
}
