// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package modelstack renders stacks: the boxes of their components, and the Services of their external components.
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

// partOfLabel is the recommended label for parts of a larger application.
const partOfLabel = "app.kubernetes.io/part-of"

// Kind is the kind of stacks in owner references.
var Kind = modelv1.SchemeGroupVersion.WithKind("ModelStack")

// ChildSelector selects the children of stacks by their labels. It also selects children of boxes to which their authors have added
// the labels.
const ChildSelector = render.ManagedByLabel + "=" + render.ManagedBy + "," + modelv1.StackLabel

// ControllingStack returns the reference to the stack that controls an object, nil if there is none.
func ControllingStack(object metav1.Object) *metav1.OwnerReference {
	return render.ControllerOfKind(object, Kind.GroupKind())
}

// DeletesInOrder returns whether the controller must delete the components of the stack in order. Otherwise, the garbage collector
// deletes them.
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

// dependencySeparator separates the names in modelv1.DependsOnAnnotation.
const dependencySeparator = ","

// DependsOn returns the names of the dependencies of the component of a child, as of the last write of the child.
func DependsOn(child metav1.Object) []string {
	names := child.GetAnnotations()[modelv1.DependsOnAnnotation]
	if names == "" {
		return nil
	}
	return strings.Split(names, dependencySeparator)
}

// Renderer renders the components of one stack. The stack must be defaulted and valid.
type Renderer struct {
	stack      *modelv1.ModelStack
	components map[string]*modelv1.ModelStackComponent
	// dependants are the components with a box that depend on the component of the name.
	dependants map[string][]*modelv1.ModelStackComponent
}

// NewRenderer returns a Renderer of the stack. The stack must not be changed afterwards.
func NewRenderer(stack *modelv1.ModelStack) *Renderer {
	r := &Renderer{
		stack:      stack,
		components: make(map[string]*modelv1.ModelStackComponent, len(stack.Spec.Components)),
		dependants: map[string][]*modelv1.ModelStackComponent{},
	}
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		r.components[component.Name] = component
		if component.Box == nil {
			continue
		}
		for _, name := range component.DependsOn {
			r.dependants[name] = append(r.dependants[name], component)
		}
	}
	return r
}

// Children returns the children of a component of the stack, with exactly the fields that the stack sets, for server-side apply.
// Each has modelv1.RenderHashAnnotation and a controller owner reference to the stack. An autoscaled box has no replicas.
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

// metadata returns the metadata of all children of the component.
func (r *Renderer) metadata(component *modelv1.ModelStackComponent) *applymetav1.ObjectMetaApplyConfiguration {
	owner := render.OwnerReference(r.stack, Kind)
	if DeletesInOrder(r.stack) {
		// Otherwise, the garbage collector would delete all children concurrently during a foreground deletion of the stack.
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
