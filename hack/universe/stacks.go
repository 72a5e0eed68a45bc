// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/store"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// checkDependencies checks that all dependencies of the component of a new box have been ready. A component outside has no box. The
// request may be from before a change of the stack, which no longer has the dependency.
func (c *checks) checkDependencies(box *model.ModelBox) {
	stack := c.stackOf(box)
	if stack == nil {
		return
	}
	component := componentOf(stack, box.Labels[modelv1.ComponentLabel])
	if component == nil {
		return
	}
	for _, dependency := range modelstackrender.DependsOn(box) {
		other := c.box(stack.Name + "-" + dependency)
		if slices.Contains(component.DependsOn, dependency) && other != nil && !isExternal(stack, dependency) && !c.wasReady[other.UID] {
			c.violate("no component starts before what it depends on", "component %s of stack %s, before %s", box.Name, stack.Name, dependency)
		}
	}
}

// componentOf returns the component of the name, nil if the stack has none.
func componentOf(stack *model.ModelStack, name string) *model.ModelStackComponent {
	i := slices.IndexFunc(stack.Spec.Components, func(component model.ModelStackComponent) bool { return component.Name == name })
	if i < 0 {
		return nil
	}
	return &stack.Spec.Components[i]
}

// isExternal returns whether the component of the name is outside the cluster.
func isExternal(stack *model.ModelStack, name string) bool {
	component := componentOf(stack, name)
	return component != nil && component.External != nil
}

// checkDeletion checks that a box of a stack that is being deleted is deleted after the boxes that depend on it. A box that another
// object outside has taken the place of may be deleted by a request from before the deletion of the stack.
func (c *checks) checkDeletion(change store.Change, box *model.ModelBox) {
	after, _ := change.After.(*model.ModelBox)
	isDeleted := box.DeletionTimestamp == nil && (after == nil || after.DeletionTimestamp != nil)
	stack := c.stackOf(box)
	if !isDeleted || !c.isController() || stack == nil || stack.DeletionTimestamp == nil || stack.Spec.Deletion != model.ComponentOrder(modelv1.ComponentsOrdered) {
		return
	}
	if isExternal(stack, box.Labels[modelv1.ComponentLabel]) {
		return
	}
	for _, component := range stack.Spec.Components {
		other := c.box(stack.Name + "-" + component.Name)
		if other == nil || !slices.Contains(component.DependsOn, box.Labels[modelv1.ComponentLabel]) || !slices.Contains(modelstackrender.DependsOn(other), box.Labels[modelv1.ComponentLabel]) {
			continue
		}
		c.violate("no component is deleted before those that depend on it", "box %s, before %s", box.Name, other.Name)
	}
}

// stackOf returns the stack of the box, nil if it has none.
func (c *checks) stackOf(box *model.ModelBox) *model.ModelStack {
	for _, object := range c.world.modelBox.Objects(stackPrefix) {
		if stack := object.(*model.ModelStack); metav1.IsControlledBy(box, stack) {
			return stack
		}
	}
	return nil
}
