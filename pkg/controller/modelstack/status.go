// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// maxNamed is how many components a list for people to read names.
const maxNamed = 5

// isMereProgress returns whether no condition has changed: what waits for a stack waits for that. The status of a stack is as
// large as the stack, so that one write for each of many components would cost the square of their number.
func isMereProgress(before, after *modelv1.ModelStackStatus) bool {
	return before.ObservedGeneration == after.ObservedGeneration &&
		slices.EqualFunc(before.Conditions, after.Conditions, func(before, after metav1.Condition) bool {
			return before.Type == after.Type && before.Status == after.Status && before.Reason == after.Reason &&
				before.ObservedGeneration == after.ObservedGeneration
		})
}

// statusOf computes the status of a stack from what was there before a reconcile and what came of that. It returns after how
// long it is to be looked at again although nothing happens, 0 for not at all.
func statusOf(s *survey, result *children.Result, now time.Time) (modelv1.ModelStackStatus, time.Duration) {
	status := modelv1.ModelStackStatus{
		ObservedGeneration: s.stack.Generation,
		TotalComponents:    int32(len(s.components)),
	}
	var recheck time.Duration
	blockers := sets.New[string]()
	for _, p := range s.progress {
		component, stallsAfter := componentStatus(s, p, result, now)
		status.Components = append(status.Components, component)
		recheck = reconciler.Soonest(recheck, stallsAfter)
		if p.obstacle != "" {
			// Not every object that is in the way is watched.
			recheck = reconciler.Soonest(recheck, children.RecheckPeriod)
		}
		if component.State == modelv1.ComponentReady {
			status.ReadyComponents++
		}
		blockers.Insert(component.WaitingFor...)
	}
	status.WaitingFor = waitingFor(status.Components, blockers)
	status.Components = append(status.Components, leftovers(s)...)
	status.Conditions = conditionsOf(s, &status, result)
	return status, recheck
}

// waitingFor names the components that others wait for and that wait for none themselves.
func waitingFor(components []modelv1.ModelStackComponentStatus, blockers sets.Set[string]) string {
	var names []string
	for i := range components {
		if blockers.Has(components[i].Name) && components[i].State != modelv1.ComponentWaiting {
			names = append(names, components[i].Name)
		}
	}
	return someOf(names)
}

// someOf lists the first few of many names.
func someOf(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}

// leftovers are the statuses of components that are no longer in the stack, by name.
func leftovers(s *survey) []modelv1.ModelStackComponentStatus {
	seen := sets.New[string]()
	var left []modelv1.ModelStackComponentStatus
	for _, child := range s.owned {
		name := child.GetLabels()[modelv1.ComponentLabel]
		if s.byName[name] != nil || seen.Has(name) {
			continue
		}
		seen.Insert(name)
		left = append(left, terminating(name, child, s.retained[name]))
	}
	slices.SortFunc(left, func(a, b modelv1.ModelStackComponentStatus) int { return strings.Compare(a.Name, b.Name) })
	return left
}

// terminating is the status of a component whose child goes when its users have gone or been updated.
func terminating(name string, child children.Object, users []string) modelv1.ModelStackComponentStatus {
	status := modelv1.ModelStackComponentStatus{
		Name:       name,
		State:      modelv1.ComponentTerminating,
		Reason:     modelv1.ReasonDeleting,
		WaitingFor: users,
		Message:    fmt.Sprintf("%s %s is being deleted", child.GetObjectKind().GroupVersionKind().Kind, child.GetName()),
	}
	if len(users) > 0 {
		status.Message = "waiting for " + strings.Join(users, ", ")
	}
	return status
}

// deletingStatus is the status of a stack that is being deleted.
func deletingStatus(stack *modelv1.ModelStack, owned []children.Object, users map[string][]string) modelv1.ModelStackStatus {
	status := *stack.Status.DeepCopy()
	status.ObservedGeneration, status.ReadyComponents, status.Components = stack.Generation, 0, nil
	seen := sets.New[string]()
	var deleting []string
	for _, child := range owned {
		name := child.GetLabels()[modelv1.ComponentLabel]
		if seen.Has(name) {
			continue
		}
		seen.Insert(name)
		status.Components = append(status.Components, terminating(name, child, users[name]))
		if len(users[name]) == 0 {
			deleting = append(deleting, name)
		}
	}
	slices.SortFunc(status.Components, func(a, b modelv1.ModelStackComponentStatus) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(deleting)
	status.WaitingFor = someOf(deleting)
	setCondition(&status.Conditions, stack.Generation, modelv1.ConditionReady, verdict{
		Reason:  modelv1.ReasonDeleting,
		Message: fmt.Sprintf("%d components are left; deleting %s", len(status.Components), status.WaitingFor),
	})
	return status
}
