// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// GetBox returns a box, possibly as it was a moment ago, or an error where there is none. It may not be changed.
type GetBox func(ctx context.Context, namespace, name string) (*model.ModelBox, error)

func (s Strategy) warningsOnCreate(ctx context.Context, stack *model.ModelStack) []string {
	var warnings []string
	for i := range stack.Spec.Components {
		warnings = append(warnings, s.warningsOfNewBox(ctx, stack, i)...)
	}
	return warnings
}

// warningsOnUpdate says what the change will do, what is deleted first, and what the user may not expect of the result.
func (s Strategy) warningsOnUpdate(ctx context.Context, stack, old *model.ModelStack) []string {
	if apiequality.Semantic.DeepEqual(stack.Spec, old.Spec) {
		return nil
	}
	warnings := s.deletionWarnings(ctx, stack, old)
	oldComponents := boxComponents(old)
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		switch oldComponent := oldComponents[component.BoxName]; {
		case oldComponent == nil:
			warnings = append(warnings, s.warningsOfNewBox(ctx, stack, i)...)
		case component.Box != nil && !apiequality.Semantic.DeepEqual(component.Box, oldComponent.Box):
			warnings = append(warnings, s.warningsOfChangedBox(ctx, stack, old, i, oldComponent)...)
		}
	}
	return warnings
}

// deletionWarnings says which boxes the stack no longer has.
func (s Strategy) deletionWarnings(ctx context.Context, stack, old *model.ModelStack) []string {
	kept := map[string]*model.ModelStackComponent{}
	for i := range stack.Spec.Components {
		kept[stack.Spec.Components[i].Name] = &stack.Spec.Components[i]
	}
	boxes := boxComponents(stack)
	var warnings []string
	for i := range old.Spec.Components {
		oldComponent := &old.Spec.Components[i]
		if oldComponent.Box == nil || boxes[oldComponent.BoxName] != nil {
			continue
		}
		what := fmt.Sprintf("component %s", oldComponent.Name)
		if kept[oldComponent.Name] != nil {
			what = fmt.Sprintf("box %s of component %s", oldComponent.BoxName, oldComponent.Name)
		}
		warnings = append(warnings, fmt.Sprintf("deletes %s%s", what, s.andItsPods(ctx, old, oldComponent)))
	}
	return warnings
}

// andItsPods says how many pods the box of a component has.
func (s Strategy) andItsPods(ctx context.Context, stack *model.ModelStack, component *model.ModelStackComponent) string {
	box := s.childBox(ctx, stack, component)
	switch {
	case box == nil || box.Status.Replicas == 0:
		return ""
	case box.Status.Replicas == 1:
		return " and its pod"
	default:
		return fmt.Sprintf(" and its %d pods", box.Status.Replicas)
	}
}

func (s Strategy) warningsOfNewBox(ctx context.Context, stack *model.ModelStack, i int) []string {
	box, err := helper.ComponentBox(stack, &stack.Spec.Components[i])
	if err != nil || box == nil {
		return nil
	}
	return s.boxes.ComponentWarningsOnCreate(ctx, box, componentPath(i).Child("box"))
}

func (s Strategy) warningsOfChangedBox(ctx context.Context, stack, old *model.ModelStack, i int, oldComponent *model.ModelStackComponent) []string {
	component := &stack.Spec.Components[i]
	box, err := helper.ComponentBox(stack, component)
	if err != nil {
		return nil
	}
	oldBox, err := helper.ComponentBox(old, oldComponent)
	if err != nil {
		return nil
	}
	if child := s.childBox(ctx, old, oldComponent); child != nil {
		oldBox.Status, oldBox.Generation, oldBox.ManagedFields = child.Status, child.Generation, child.ManagedFields
		// What the stack leaves to others is as they have it.
		if component.Box.Replicas == nil {
			box.Spec.Replicas = child.Spec.Replicas
		}
		if oldComponent.Box.Replicas == nil {
			oldBox.Spec.Replicas = child.Spec.Replicas
		}
	}
	return s.boxes.ComponentWarningsOnUpdate(ctx, box, oldBox, component.Name, componentPath(i).Child("box"))
}

// childBox returns the box of a component, nil where there is none, or one that is not the stack's.
func (s Strategy) childBox(ctx context.Context, stack *model.ModelStack, component *model.ModelStackComponent) *model.ModelBox {
	box, err := s.getBox(ctx, stack.Namespace, component.BoxName)
	if err != nil {
		klog.FromContext(ctx).V(4).Info("Looking for the box of a component failed", "stack", klog.KObj(stack), "component", component.Name, "err", err)
		return nil
	}
	if !metav1.IsControlledBy(box, stack) {
		return nil
	}
	return box
}
