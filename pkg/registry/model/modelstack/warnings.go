// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// GetBox returns a box from a cache, or an error if it does not exist. The caller must not change it.
type GetBox func(ctx context.Context, namespace, name string) (*model.ModelBox, error)

func (s Strategy) warningsOnCreate(ctx context.Context, stack *model.ModelStack) []string {
	return s.boxWarnings(ctx, stack, nil)
}

// warningsOnUpdate returns warnings about the boxes that an update deletes, and about the boxes that it creates or changes.
func (s Strategy) warningsOnUpdate(ctx context.Context, stack, old *model.ModelStack) []string {
	if apiequality.Semantic.DeepEqual(stack.Spec, old.Spec) {
		return nil
	}
	return slices.Concat(s.deletionWarnings(ctx, stack, old), IsolationWarnings(stack, old), s.boxWarnings(ctx, stack, old))
}

// boxWarnings warns about boxes that are new or change, for example because a dependency changes. old is nil for a new stack.
func (s Strategy) boxWarnings(ctx context.Context, stack, old *model.ModelStack) []string {
	changes, err := connectedChanges(stack, old)
	if err != nil { // is an error of the validation as well
		return nil
	}
	var warnings []string
	for _, change := range changes {
		path := change.Path.Child("box")
		if change.Old == nil {
			warnings = append(warnings, s.boxes.ComponentWarningsOnCreate(ctx, change.Box, path)...)
			continue
		}
		if child := s.childBox(ctx, stack, change.Component.BoxName); child != nil {
			observe(change.Old, child)
			// The stack does not change fields that it does not set.
			if change.Component.Box.Replicas == nil {
				change.Box.Spec.Replicas = child.Spec.Replicas
			}
		}
		warnings = append(warnings, s.boxes.ComponentWarningsOnUpdate(ctx, change.Box, change.Old, change.Component.Name, path, stack.Spec.Paused)...)
	}
	return warnings
}

// observe copies the fields of the child that the stack does not set to the box.
func observe(box, child *model.ModelBox) {
	box.Status, box.Generation, box.ManagedFields = child.Status, child.Generation, child.ManagedFields
	box.Spec.Replicas = child.Spec.Replicas
}

// deletionWarnings warns about the boxes that an update removes from the stack.
func (s Strategy) deletionWarnings(ctx context.Context, stack, old *model.ModelStack) []string {
	kept, boxes := map[string]bool{}, map[string]bool{}
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		kept[component.Name] = true
		boxes[component.BoxName] = component.Box != nil
	}
	deletes, when := "deletes", ""
	if stack.Spec.Paused {
		deletes, when = "will delete", " when the stack is unpaused"
	}
	var warnings []string
	for i := range old.Spec.Components {
		oldComponent := &old.Spec.Components[i]
		if oldComponent.Box == nil || boxes[oldComponent.BoxName] {
			continue
		}
		what := fmt.Sprintf("component %s", oldComponent.Name)
		if kept[oldComponent.Name] {
			what = fmt.Sprintf("box %s of component %s", oldComponent.BoxName, oldComponent.Name)
		}
		warnings = append(warnings, fmt.Sprintf("%s %s%s%s", deletes, what, s.andItsPods(ctx, old, oldComponent), when))
	}
	return warnings
}

// andItsPods returns the end of a warning with the number of pods of the box of a component.
func (s Strategy) andItsPods(ctx context.Context, stack *model.ModelStack, component *model.ModelStackComponent) string {
	box := s.childBox(ctx, stack, component.BoxName)
	switch {
	case box == nil || box.Status.Replicas == 0:
		return ""
	case box.Status.Replicas == 1:
		return " and its pod"
	default:
		return fmt.Sprintf(" and its %d pods", box.Status.Replicas)
	}
}

// childBox returns the box of a component, nil if it does not exist or belongs to another owner.
func (s Strategy) childBox(ctx context.Context, stack *model.ModelStack, name string) *model.ModelBox {
	box, err := s.getBox(ctx, stack.Namespace, name)
	if err != nil {
		klog.FromContext(ctx).V(4).Info("Looking for the box of a component failed", "box", klog.KRef(stack.Namespace, name), "err", err)
		return nil
	}
	if !metav1.IsControlledBy(box, stack) {
		return nil
	}
	return box
}
