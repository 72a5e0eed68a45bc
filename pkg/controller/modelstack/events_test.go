// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestEventsReportEachChangeOfAComponentOnce(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("db"), boxComponent("cache")))
	f.reconcile()
	f.reconcile()
	f.told()
	for _, step := range []struct {
		name   string
		change func()
		want   []string
	}{
		{"a component is ready", func() { f.setReady("db") }, []string{"Normal ComponentReady Component db is ready"}},
		{"a ready component fails", func() { f.fail("db") }, nil},
		{"it recovers", func() { f.setReady("db") }, nil},
		{"a component stalls", func() {
			f.fail("db")
			f.setCondition("db", modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonJobFailed)
		}, []string{"Warning ComponentStalled Component db: JobFailed: m"}},
		{"the status changes while the component is stalled", func() { f.setReady("cache") }, []string{"Normal ComponentReady Component cache is ready"}},
		{"a component starts again", func() {
			f.setCondition("db", modelv1.ConditionStalled, metav1.ConditionFalse, modelv1.ReasonProgressing)
		}, nil},
		{"it stalls again", func() {
			f.setCondition("db", modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonJobFailed)
		}, []string{"Warning ComponentStalled Component db: JobFailed: m"}},
	} {
		step.change()
		f.reconcile()
		f.reconcile()
		check(t, step.name, step.want, f.told())
	}
}
