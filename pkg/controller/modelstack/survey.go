// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

// survey is how far the components of a stack are, before anything is done about them.
type survey struct {
	*graph
	stack *modelv1.ModelStack
	// progress is the progress of each component, by its index.
	progress []*progress
	// owned are all children of components that the stack controls.
	owned []children.Object
	// needs has, for each component, the names of the components that it needs, as its children had it when they were last written.
	// needed has the names of the components that need it.
	needs, needed map[string][]string
	// retained has, for components that are no longer in the stack, the names of the components that they are retained for.
	retained map[string][]string
	// lastStates are the states in the last status, whether or not it has been written. isNewGeneration says that it was about
	// another generation of the stack.
	lastStates      map[string]*modelv1.ModelStackComponentStatus
	isNewGeneration bool
}

// progress is how far a component is.
type progress struct {
	*component
	revision string
	// box is the component's own, nil while there is none or it is being deleted.
	box *modelv1.ModelBox
	// isCurrent says that the children are as the stack says. isReady says that the box is also ready. A component outside is ready
	// as soon as a Service leads to it.
	isCurrent, isReady bool
	// isThere says that at least one of the children exists.
	isThere bool
	// isBlocked says that a component that it depends on, at whatever distance, is not ready.
	isBlocked bool

	// former is a child that the component had before and that is still there; nil is none.
	former children.Object

	// The results of a reconcile:

	// waitingFor are the components that it is held back for.
	waitingFor []string
	// obstacle is what else it is held back for.
	obstacle string
}

// surveyOf looks at the children of the stack in the caches.
func (c *Controller) surveyOf(stack *modelv1.ModelStack) (*survey, error) {
	g, err := c.graphOf(stack)
	if err != nil {
		return nil, err
	}
	s := &survey{
		graph:    g,
		stack:    stack,
		progress: make([]*progress, len(g.components)),
		needs:    map[string][]string{},
		needed:   map[string][]string{},
		retained: map[string][]string{},
	}
	last := c.LastStatus(stack)
	s.isNewGeneration = last.ObservedGeneration != stack.Generation
	s.lastStates = make(map[string]*modelv1.ModelStackComponentStatus, len(last.Components))
	for i := range last.Components {
		s.lastStates[last.Components[i].Name] = &last.Components[i]
	}
	if s.owned, err = c.ownedComponents(stack); err != nil {
		return nil, err
	}
	for _, child := range s.owned {
		user := child.GetLabels()[modelv1.ComponentLabel]
		for _, name := range modelstackrender.DependsOn(child) {
			s.needs[user], s.needed[name] = append(s.needs[user], name), append(s.needed[name], user)
		}
	}
	live := c.children.Live(stack)
	for _, each := range g.sorted {
		p, err := c.progressOf(stack, each, live)
		if err != nil {
			return nil, err
		}
		for _, dependency := range each.dependencies {
			if below := s.progress[dependency.index]; !below.isReady || below.isBlocked {
				p.isBlocked = true
			}
		}
		s.progress[each.index] = p
	}
	s.findFormer()
	return s, nil
}

// findFormer finds the children that components had before they were renamed, or went outside and came back.
func (s *survey) findFormer() {
	for _, child := range s.owned {
		of := s.byName[child.GetLabels()[modelv1.ComponentLabel]]
		if of == nil {
			continue
		}
		kind := child.GetObjectKind().GroupVersionKind().Kind
		if !slices.ContainsFunc(of.rendered, func(rendered *unstructured.Unstructured) bool {
			return rendered.GetKind() == kind && rendered.GetName() == child.GetName()
		}) {
			s.progress[of.index].former = child
		}
	}
}

func (c *Controller) progressOf(stack *modelv1.ModelStack, of *component, live children.Live) (*progress, error) {
	rendered, err := c.renderedFor(of, live)
	if err != nil {
		return nil, err
	}
	p := &progress{component: of, revision: revision(rendered), isCurrent: true}
	for _, child := range rendered {
		found, err := live.Child(child.GroupVersionKind(), child.GetName())
		if err != nil {
			return nil, err
		}
		if found == nil || found.GetDeletionTimestamp() != nil || !c.children.IsOwnedBy(found, stack) {
			p.isCurrent = false
			continue
		}
		p.isThere = true
		if render.Hash(found) != render.Hash(child) {
			p.isCurrent = false
		}
		if box, ok := found.(*modelv1.ModelBox); ok {
			p.box = box
		}
	}
	p.isReady = p.isCurrent && (of.External != nil || isReady(p.box))
	return p, nil
}

// liveBox returns the live box of the name, nil where there is none.
func liveBox(live children.Live, name string) (*modelv1.ModelBox, error) {
	found, err := live.Child(boxKind, name)
	box, _ := found.(*modelv1.ModelBox)
	return box, err
}

// isReady returns whether the box is ready as it is now: a condition may be about an earlier generation.
func isReady(box *modelv1.ModelBox) bool {
	if box.Status.ObservedGeneration < box.Generation {
		return false
	}
	ready := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == box.Generation
}
