// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// PodsArgument returns, as TYPE/NAME, what has the pods that an argument names: a box, or as modelstacks/NAME/COMPONENT the box of a
// component.
func PodsArgument(ctx context.Context, f cmdutil.Factory, argument string) (string, error) {
	resource, name, _ := strings.Cut(argument, "/")
	if resourceOf(resource) != Stacks || name == "" {
		return Argument(argument), nil
	}
	name, component, _ := strings.Cut(name, "/")
	if component == "" {
		return "", fmt.Errorf("%s is a stack: specify a component as %s/COMPONENT", argument, argument)
	}
	namespace, _, err := f.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", err
	}
	client, err := NewClient(f)
	if err != nil {
		return "", err
	}
	stack, err := client.ModelV1().ModelStacks(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	box, err := componentBox(stack, component)
	return Boxes + "/" + box, err
}

// componentBox returns the name of the box of a component.
func componentBox(stack *modelv1.ModelStack, name string) (string, error) {
	var names []string
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		if component.Box == nil {
			continue
		}
		if component.Name == name {
			return component.BoxName, nil
		}
		names = append(names, component.Name)
	}
	return "", fmt.Errorf("stack %s has no component %q with a box: must be one of %s", stack.Name, name, strings.Join(names, ", "))
}

// Component is the box of a component of a stack.
type Component struct {
	Name string
	Box  *modelv1.ModelBox
}

// Components returns the boxes of a stack that there are, in the order of its components. It gets those that are not among the
// listed boxes.
func Components(ctx context.Context, client versioned.Interface, stack *modelv1.ModelStack, listed []*modelv1.ModelBox) ([]Component, error) {
	known := map[string]*modelv1.ModelBox{}
	for _, box := range listed {
		if box.Namespace == stack.Namespace {
			known[box.Name] = box
		}
	}
	var components []Component
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		if component.Box == nil {
			continue
		}
		box, err := known[component.BoxName], error(nil)
		if box == nil {
			box, err = client.ModelV1().ModelBoxes(stack.Namespace).Get(ctx, component.BoxName, metav1.GetOptions{})
		}
		if apierrors.IsNotFound(err) || err == nil && !render.IsControlledBy(box, stack, modelstackrender.Kind.GroupKind()) {
			continue
		}
		if err != nil {
			return nil, err
		}
		components = append(components, Component{component.Name, box})
	}
	return components, nil
}

// WithComponents returns the boxes, and the boxes of the components of the stacks, each once.
func WithComponents(ctx context.Context, client versioned.Interface, objects *Objects) ([]*modelv1.ModelBox, error) {
	selected, seen := slices.Clone(objects.Boxes), map[types.UID]bool{}
	for _, stack := range objects.Stacks {
		components, err := Components(ctx, client, stack, objects.Boxes)
		if err != nil {
			return nil, err
		}
		for _, component := range components {
			selected = append(selected, component.Box)
		}
	}
	return slices.DeleteFunc(selected, func(box *modelv1.ModelBox) bool {
		wasSeen := seen[box.UID]
		seen[box.UID] = true
		return wasSeen
	}), nil
}
