// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cliutil

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// containers are the containers of some boxes as the containers of one pod, with functions that write each back to its box.
type containers struct {
	spec  corev1.PodSpec
	store []func()
}

// updatePodSpec changes the containers of a box, or of all components of a stack, with the function. It changes the pod spec of any
// other object like the function of kubectl. In a stack, the main container of a component has the name of the component, and any
// other container has the name "COMPONENT/CONTAINER".
func updatePodSpec(others polymorphichelpers.UpdatePodSpecForObjectFunc) polymorphichelpers.UpdatePodSpecForObjectFunc {
	return func(object runtime.Object, change func(*corev1.PodSpec) error) (bool, error) {
		found := &containers{}
		switch object := object.(type) {
		case *modelv1.ModelBox:
			main := object.Spec.Name
			if main == "" {
				main = object.Name
			}
			found.add(&object.Spec, main, "")
		case *modelv1.ModelStack:
			for i := range object.Spec.Components {
				if component := &object.Spec.Components[i]; component.Box != nil {
					found.add(component.Box, component.Name, component.Name+"/")
				}
			}
		default:
			return others(object, change)
		}
		if err := change(&found.spec); err != nil {
			return true, err
		}
		for _, store := range found.store {
			store()
		}
		return true, nil
	}
}

// containerNames returns the names that containers of the boxes and stacks have in commands, the main one of each box first.
func (o *Objects) containerNames() []string {
	var names []string
	collect := func(spec *corev1.PodSpec) error {
		for _, container := range slices.Concat(spec.Containers, spec.InitContainers) {
			if !slices.Contains(names, container.Name) {
				names = append(names, container.Name)
			}
		}
		return nil
	}
	update := updatePodSpec(nil)
	for _, box := range o.Boxes {
		_, _ = update(box, collect)
	}
	for _, stack := range o.Stacks {
		_, _ = update(stack, collect)
	}
	return names
}

// add adds the containers of a box, the others than its main one with a prefix to their names.
func (c *containers) add(box *modelv1.ModelBoxSpec, main, prefix string) {
	container := corev1.Container{Name: main, Image: box.Image, Env: box.Envs}
	if box.Resources != nil {
		container.Resources = *box.Resources
	}
	index := len(c.spec.Containers)
	c.spec.Containers = append(c.spec.Containers, container)
	c.store = append(c.store, func() {
		changed := c.spec.Containers[index]
		box.Image, box.Envs = changed.Image, changed.Env
		if len(box.Envs) == 0 {
			box.Envs = nil
		}
		if resources := changed.Resources; box.Resources != nil || len(resources.Limits) > 0 || len(resources.Requests) > 0 {
			box.Resources = &resources
		}
	})
	c.addOthers(&c.spec.Containers, box.Containers, prefix)
	c.addOthers(&c.spec.InitContainers, box.InitContainers, prefix)
}

func (c *containers) addOthers(to *[]corev1.Container, from []corev1.Container, prefix string) {
	for i := range from {
		index, name := len(*to), from[i].Name
		container := from[i]
		container.Name = prefix + name
		*to = append(*to, container)
		c.store = append(c.store, func() {
			from[i] = (*to)[index]
			from[i].Name = name
		})
	}
}
