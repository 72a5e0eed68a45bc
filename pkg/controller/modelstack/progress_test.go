// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
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
			f.clock.SetTime(f.clock.Now().Add(2 * helper.DefaultProgressDeadline))
			f.reconcile()
			row.after(f)
			for range 3 {
				f.reconcile()
				check(t, "stalled", "none", f.condition(modelv1.ConditionStalled))
			}
			f.setUpdating("db")
			f.fail("db")
			f.clock.SetTime(f.clock.Now().Add(helper.DefaultProgressDeadline))
			f.reconcile()
			check(t, "stalled when it is too long again", "True ComponentStalled", f.condition(modelv1.ConditionStalled))
		})
	}
}

// A rollout may take longer than the default deadline if its box says so, or if it is in steps or waits for a Job.
func TestSlowRolloutIsNotStalled(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		// deadline is the time after which the component stalls, if stalls is true.
		deadline time.Duration
		stalls   bool
	}{
		{"default", func(*modelv1.ModelBox) {}, helper.DefaultProgressDeadline, true},
		{"with a longer deadline", func(box *modelv1.ModelBox) { box.Spec.ProgressDeadlineSeconds = ptr.To[int32](3600) }, time.Hour, true},
		{"in a rollout that the box judges", func(box *modelv1.ModelBox) {
			box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing}
		}, 24 * time.Hour, false},
		{"after such a rollout", func(box *modelv1.ModelBox) {
			box.Status.Rollout = &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutComplete}
		}, helper.DefaultProgressDeadline, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			component := boxComponent("db")
			box := &modelv1.ModelBox{Spec: *component.Box}
			row.change(box)
			component.Box.ProgressDeadlineSeconds = box.Spec.ProgressDeadlineSeconds
			f := newTestController(t, newStack(component))
			f.settle()
			f.update(func(stack *modelv1.ModelStack) { stack.Spec.Components[0].Box.Image = "db:2" })
			f.reconcile()
			f.setUpdating("db")
			f.changeBox("db", row.change)
			f.setCondition("db", modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonProgressing)
			f.reconcile()
			f.clock.SetTime(f.clock.Now().Add(row.deadline - time.Minute))
			f.reconcile()
			check(t, "stalled before the deadline", "none", f.condition(modelv1.ConditionStalled))
			f.clock.SetTime(f.clock.Now().Add(time.Minute))
			f.reconcile()
			want := "none"
			if row.stalls {
				want = "True ComponentStalled"
			}
			check(t, "stalled after the deadline", want, f.condition(modelv1.ConditionStalled))
		})
	}
}
