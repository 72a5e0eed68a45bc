// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelstack renders stacks: the boxes of their components, and the Services that lead to what is outside.
package modelstack

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// partOfLabel is the recommended label for what is part of a larger application.
const partOfLabel = "app.kubernetes.io/part-of"

// Kind is that of stacks, as owner references have it.
var Kind = modelv1.SchemeGroupVersion.WithKind("ModelStack")

// ChildSelector selects the children of stacks by their labels, and those of boxes only where their authors say so.
const ChildSelector = render.ManagedByLabel + "=" + render.ManagedBy + "," + modelv1.StackLabel

// ControllingStack returns the reference to the stack that an object names as its controller, nil where it names none.
func ControllingStack(object metav1.Object) *metav1.OwnerReference {
	return render.ControllerOfKind(object, Kind.GroupKind())
}

// DeletesInOrder returns whether the components of the stack have to be deleted one after the other. Where they do not, the
// garbage collector deletes them.
func DeletesInOrder(stack *modelv1.ModelStack) bool {
	if stack.Spec.Deletion != modelv1.ComponentsOrdered {
		return false
	}
	for i := range stack.Spec.Components {
		if len(stack.Spec.Components[i].DependsOn) > 0 {
			return true
		}
	}
	return false
}

// dependencySeparator is between the names in modelv1.DependsOnAnnotation.
const dependencySeparator = ","

// DependsOn returns the names of the components that the one of a child depended on when the child was last written.
func DependsOn(child metav1.Object) []string {
	names := child.GetAnnotations()[modelv1.DependsOnAnnotation]
	if names == "" {
		return nil
	}
	return strings.Split(names, dependencySeparator)
}

// Renderer renders the components of one stack, which has to be defaulted and valid.
type Renderer struct {
	stack      *modelv1.ModelStack
	components map[string]*modelv1.ModelStackComponent
}

// NewRenderer returns a Renderer of the stack. The stack must not be changed afterwards.
func NewRenderer(stack *modelv1.ModelStack) *Renderer {
	r := &Renderer{stack: stack, components: make(map[string]*modelv1.ModelStackComponent, len(stack.Spec.Components))}
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		r.components[component.Name] = component
	}
	return r
}

// Children returns the objects that a component of the stack asks for: exactly the fields that the stack decides, in the form
// that server-side apply takes. Each carries modelv1.RenderHashAnnotation and a controller owner reference to the stack. The
// replicas of a box that is autoscaled are left out.
func (r *Renderer) Children(component *modelv1.ModelStackComponent, isAutoscaled bool) ([]*unstructured.Unstructured, error) {
	configurations := external(r.metadata(component), component)
	if component.Box != nil {
		box, err := r.box(component, isAutoscaled)
		if err != nil {
			return nil, fmt.Errorf("rendering the box of component %s: %w", component.Name, err)
		}
		configurations = []runtime.ApplyConfiguration{box}
	}
	children := make([]*unstructured.Unstructured, 0, len(configurations))
	for _, configuration := range configurations {
		child, err := render.WithHash(configuration)
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return children, nil
}

// metadata is that of every child of the component.
func (r *Renderer) metadata(component *modelv1.ModelStackComponent) *applymetav1.ObjectMetaApplyConfiguration {
	owner := render.OwnerReference(r.stack, Kind)
	if DeletesInOrder(r.stack) {
		// A foreground deletion of the stack would otherwise have the garbage collector delete all children at once.
		owner.WithBlockOwnerDeletion(false)
	}
	metadata := applymetav1.ObjectMeta().
		WithName(component.BoxName).
		WithNamespace(r.stack.Namespace).
		WithLabels(map[string]string{
			render.ManagedByLabel:  render.ManagedBy,
			partOfLabel:            r.stack.Name,
			modelv1.StackLabel:     r.stack.Name,
			modelv1.ComponentLabel: component.Name,
		}).
		WithOwnerReferences(owner)
	if len(component.DependsOn) > 0 {
		metadata.WithAnnotations(map[string]string{modelv1.DependsOnAnnotation: strings.Join(component.DependsOn, dependencySeparator)})
	}
	return metadata
}
