// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

func TestConditionsFollowTheComponents(t *testing.T) {
	component := func(name string, state modelv1.ComponentState) modelv1.ModelStackComponentStatus {
		return modelv1.ModelStackComponentStatus{Name: name, State: state, Reason: "R", Message: "m"}
	}
	ready := func(name string) modelv1.ModelStackComponentStatus { return component(name, modelv1.ComponentReady) }
	progressing, terminating := component("web", modelv1.ComponentProgressing), component("old", modelv1.ComponentTerminating)
	stalled, waiting := component("db", modelv1.ComponentStalled), component("web", modelv1.ComponentWaiting)
	taken := &apply.NotOwnedError{Noun: noun, Kind: "ModelBox", Name: "db", Remedy: "rename it"}

	for _, row := range []struct {
		name       string
		components []modelv1.ModelStackComponentStatus
		waitingFor string
		result     children.Result
		// total is the number of components that the stack specifies, if it is not the number of all.
		total int32
		want  map[string]string
	}{
		{name: "all components are ready", components: []modelv1.ModelStackComponentStatus{ready("db"), ready("web")}, want: map[string]string{
			modelv1.ConditionReady:       "True Ready: 2 of 2 components are ready",
			modelv1.ConditionProgressing: "False RolloutComplete: 2 of 2 components are ready",
			modelv1.ConditionApplied:     "True Applied: all children are up to date",
		}},
		{name: "a component makes progress", components: []modelv1.ModelStackComponentStatus{ready("db"), progressing}, want: map[string]string{
			modelv1.ConditionReady:       "False Progressing: 1 of 2 components is ready; web: R: m",
			modelv1.ConditionProgressing: "True Progressing: 1 of 2 components is ready; web: R: m",
			modelv1.ConditionApplied:     "True Applied: all children are up to date",
		}},
		{name: "a component is deleted", components: []modelv1.ModelStackComponentStatus{ready("db"), terminating}, total: 1, want: map[string]string{
			modelv1.ConditionReady:       "False Progressing: 1 of 1 components is ready; old: R: m",
			modelv1.ConditionProgressing: "True Progressing: 1 of 1 components is ready; old: R: m",
			modelv1.ConditionApplied:     "True Applied: all children are up to date",
		}},
		{name: "a component waits for another one", components: []modelv1.ModelStackComponentStatus{ready("db"), waiting}, waitingFor: "api", want: map[string]string{
			modelv1.ConditionReady:       "False Progressing: 1 of 2 components is ready",
			modelv1.ConditionProgressing: "True Progressing: 1 of 2 components is ready",
			modelv1.ConditionApplied:     "False Waiting: held back: web; waiting for: api",
		}},
		{name: "a component waits for one that has stalled", components: []modelv1.ModelStackComponentStatus{stalled, waiting}, waitingFor: "db", want: map[string]string{
			modelv1.ConditionReady:       "False ComponentStalled: db: R: m",
			modelv1.ConditionProgressing: "False ComponentStalled: db: R: m",
			modelv1.ConditionApplied:     "False Waiting: held back: web; waiting for: db",
			modelv1.ConditionStalled:     "True ComponentStalled: db: R: m",
		}},
		{name: "a component has stalled while another one makes progress", components: []modelv1.ModelStackComponentStatus{stalled, progressing}, want: map[string]string{
			modelv1.ConditionReady:       "False ComponentStalled: db: R: m",
			modelv1.ConditionProgressing: "True Progressing: 0 of 2 components are ready; web: R: m",
			modelv1.ConditionApplied:     "True Applied: all children are up to date",
			modelv1.ConditionStalled:     "True ComponentStalled: db: R: m",
		}},
		{name: "the stack is paused", components: []modelv1.ModelStackComponentStatus{ready("db"), progressing},
			result: children.Result{Pending: []string{"ModelBox", "Service"}}, want: map[string]string{
				modelv1.ConditionReady:       "False Paused: the stack is paused; not up to date: 2 of its children",
				modelv1.ConditionProgressing: "True Progressing: 1 of 2 components is ready; web: R: m",
				modelv1.ConditionApplied:     "False Paused: the stack is paused; not up to date: 2 of its children",
			}},
		{name: "several children fail, the first one for good", components: []modelv1.ModelStackComponentStatus{stalled, progressing},
			result: children.Result{Failures: []error{taken, errors.New("no answer")}}, want: map[string]string{
				modelv1.ConditionReady:       "False NotApplied: NotOwned: " + taken.Error() + "\nno answer",
				modelv1.ConditionProgressing: "True Progressing: 0 of 2 components are ready; web: R: m",
				modelv1.ConditionApplied:     "False NotOwned: " + taken.Error() + "\nno answer",
				modelv1.ConditionStalled:     "True NotOwned: " + taken.Error() + "\nno answer",
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			stack := newStack()
			stack.Generation = 3
			stack.Status.Conditions = []metav1.Condition{
				{Type: "Other", Status: metav1.ConditionTrue, ObservedGeneration: 3},
				{Type: modelv1.ConditionStalled, Status: metav1.ConditionTrue, ObservedGeneration: 2},
			}
			status := &modelv1.ModelStackStatus{Components: row.components, TotalComponents: int32(len(row.components)), WaitingFor: row.waitingFor}
			if row.total > 0 {
				status.TotalComponents = row.total
			}
			status.ReadyComponents = int32(len(inState(status, modelv1.ComponentReady)))
			got := map[string]string{}
			for _, condition := range conditionsOf(&survey{stack: stack}, status, &row.result) {
				check(t, "generation of "+condition.Type, stack.Generation, condition.ObservedGeneration)
				got[condition.Type] = string(condition.Status) + " " + condition.Reason + ": " + condition.Message
			}
			row.want["Other"] = "True : "
			check(t, "conditions", row.want, got)
		})
	}
}
