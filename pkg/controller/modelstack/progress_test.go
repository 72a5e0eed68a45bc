// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// A component that is fixed, or was paused, has as much time again as a new component.
func TestProgressBeginsAnew(t *testing.T) {
	image := func(image string) func(*modelv1.ModelStack) {
		return func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Image = image }
	}
	pause := func(paused bool) func(f *testController) {
		return func(f *testController) {
			f.changeBox("db", func(box *modelv1.ModelBox) { box.Spec.Paused = paused })
			reason := modelv1.ReasonProgressing
			if paused {
				reason = modelv1.ReasonPaused
			}
			f.setCondition("db", modelv1.ConditionReady, metav1.ConditionFalse, reason)
		}
	}
	for _, row := range []struct {
		name          string
		before, after func(f *testController)
	}{
		{"with a change of what has stalled", func(f *testController) { f.fail("db") }, func(f *testController) { f.update(image("db:3")) }},
		{"when the stack is paused no more",
			func(f *testController) {
				f.update(func(stack *modelv1.ModelStack) { stack.Spec.Paused = true; image("db:3")(stack) })
			},
			func(f *testController) { f.update(func(stack *modelv1.ModelStack) { stack.Spec.Paused = false }) }},
		{"when the box is paused no more", pause(true), pause(false)},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, newStack(boxComponent("db"), boxComponent("web", "db")))
			f.settle()
			f.update(image("db:2"))
			f.reconcile()
			f.setUpdating("db")
			row.before(f)
			f.reconcile()
			f.clock.SetTime(f.clock.Now().Add(2 * progressDeadline))
			f.reconcile()
			row.after(f)
			for range 3 {
				f.reconcile()
				check(t, "stalled", "none", f.condition(modelv1.ConditionStalled))
			}
			f.setUpdating("db")
			f.fail("db")
			f.clock.SetTime(f.clock.Now().Add(progressDeadline))
			f.reconcile()
			check(t, "stalled when it is too long again", "True ComponentStalled", f.condition(modelv1.ConditionStalled))
		})
	}
}
