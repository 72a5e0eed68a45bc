// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// hold returns whether a step has to wait for other components. A failure of one component never holds back another one that runs
// already and has not changed.
func (c *Controller) hold(s *survey, step *apply.Step) bool {
	if step.Kind.RecordsOwner {
		return false
	}
	if step.Operation == apply.Prune {
		return c.holdPrune(s, step)
	}
	of := s.byChild[step.Name()]
	if of == nil {
		return false
	}
	p := s.progress[of.index]
	switch step.Operation {
	case apply.Wait:
		p.obstacle = fmt.Sprintf("%s %s is being deleted and will be created again when it is gone", step.Kind.GroupVersionKind.Kind, step.Name())
		return true
	case apply.Refuse:
		return c.holdRefused(s, p, step)
	case apply.Create, apply.Adopt, apply.Replace:
		return s.holdCreate(p)
	case apply.Update:
		return s.holdUpdate(p)
	default:
		return false
	}
}

// holdCreate lets a new child wait for what its component depends on, and for a child of another kind that has its name. A component
// that has started lacks a child only until it is created again, such as an EndpointSlice with addresses of another family.
func (s *survey) holdCreate(p *progress) bool {
	if p.isThere {
		return s.holdUpdate(p)
	}
	if p.waitingFor = s.notReady(p.component); len(p.waitingFor) > 0 {
		return true
	}
	if p.Box == nil {
		return false
	}
	for _, child := range s.owned {
		if _, isBox := child.(*modelv1.ModelBox); !isBox && child.GetName() == p.BoxName {
			p.obstacle = fmt.Sprintf("%s %s has to be deleted first", child.GetObjectKind().GroupVersionKind().Kind, child.GetName())
			return true
		}
	}
	return false
}

// notReady returns the names of the components that the one depends on and that are not ready.
func (s *survey) notReady(of *component) []string {
	var names []string
	for _, dependency := range of.dependencies {
		if !s.progress[dependency.index].isReady {
			names = append(names, dependency.Name)
		}
	}
	return names
}

// holdUpdate lets a changed component wait until what it depends on is as the stack says and ready. That it was ready with the
// same spec before says nothing: another one may have been tried since.
func (s *survey) holdUpdate(p *progress) bool {
	if s.stack.Spec.Rollout != modelv1.ComponentsOrdered || !p.isBlocked {
		return false
	}
	p.waitingFor = s.notReadyBelow(p)
	return true
}

// notReadyBelow returns the names of the nearest components below that are not ready.
func (s *survey) notReadyBelow(p *progress) []string {
	names, seen := []string(nil), sets.New[int]()
	for next := slices.Clone(p.dependencies); len(next) > 0; next = next[1:] {
		below := s.progress[next[0].index]
		if seen.Has(below.index) {
			continue
		}
		seen.Insert(below.index)
		switch {
		case !below.isReady:
			names = append(names, below.Name)
		case below.isBlocked:
			next = append(next, below.dependencies...)
		}
	}
	return names
}

// holdRefused returns whether an object in the place of a component's child is about to go: the Service of the box that the
// component was.
func (c *Controller) holdRefused(s *survey, p *progress, step *apply.Step) bool {
	service, isService := step.Live.(*corev1.Service)
	if !isService {
		return false
	}
	reference := modelboxrender.ControllingBox(service)
	if reference == nil || reference.Name != p.BoxName {
		return false
	}
	box, err := liveBox(c.children.Live(s.stack), reference.Name)
	isGoing := err == nil && (box == nil || box.UID != reference.UID || c.children.IsOwnedBy(box, s.stack))
	if isGoing {
		p.obstacle = fmt.Sprintf("Service %s of the box has to be deleted first", service.Name)
	}
	return isGoing
}

// holdPrune keeps a child that the stack no longer asks for while it is still in use.
func (c *Controller) holdPrune(s *survey, step *apply.Step) bool {
	child := step.Live
	name := child.GetLabels()[modelv1.ComponentLabel]
	waitingFor := s.usersOf(child, name)
	if len(waitingFor) > 0 {
		s.retained[name] = waitingFor
	}
	return len(waitingFor) > 0
}

// usersOf returns the names of the components that a child has to stay for.
func (s *survey) usersOf(child children.Object, name string) []string {
	if successor := s.byChild[child.GetName()]; successor != nil {
		// The component was a box and is outside now, or was outside and is a box now. The old child stays until the dependencies
		// of the new one are ready.
		return s.notReady(successor)
	}
	if s.stack.Spec.Rollout != modelv1.ComponentsOrdered {
		return nil
	}
	users := sets.New[string]()
	if renamed := s.byName[name]; renamed != nil {
		if !s.progress[renamed.index].isReady {
			users.Insert(name)
		}
		for _, waiter := range renamed.waiters {
			if !s.progress[waiter.index].isReady {
				users.Insert(waiter.Name)
			}
		}
		return sets.List(users)
	}
	// Those that have not been updated say so themselves. Those that have been are known from before.
	below := closure(name, s.needs)
	users.Insert(nearest(name, s.needed, func(user string) bool { return s.byName[user] != nil || !below.Has(user) })...)
	if last := s.lastStates[name]; last != nil {
		for _, user := range last.WaitingFor {
			if updated := s.byName[user]; updated != nil && !s.progress[updated.index].isReady {
				users.Insert(user)
			}
		}
	}
	return sets.List(users.Delete(name))
}
