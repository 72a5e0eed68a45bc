// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestReadyComponentsAreWrittenTogether(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("a"), boxComponent("b"), boxComponent("c")))
	f.reconcile()
	f.reconcile()
	written := f.stack().ResourceVersion
	for _, name := range []string{"a", "b"} {
		f.setReady(name)
		f.reconcileAtOnce()
		f.reconcileAtOnce()
	}
	check(t, "states while the status is put off", "a=Progressing b=Progressing c=Progressing", f.states())
	check(t, "version while the status is put off", written, f.stack().ResourceVersion)
	f.told()
	f.reconcile()
	check(t, "states", "a=Ready b=Ready c=Progressing", f.states())
	f.setReady("c")
	f.reconcileAtOnce()
	check(t, "ready as soon as all are", "True Ready", f.condition(modelv1.ConditionReady))
	check(t, "story", []string{
		"Normal ComponentReady Component c is ready",
		"Normal StackReady 3 of 3 components are ready",
	}, f.told())
}

func TestEachComponentIsToldReadyOnceWhileTheStatusIsPutOff(t *testing.T) {
	f := newTestController(t, newStack(boxComponent("a"), boxComponent("b")))
	f.reconcile()
	f.reconcile()
	f.told()
	f.setReady("a")
	for range 3 {
		f.reconcileAtOnce()
	}
	f.reconcile()
	check(t, "story", []string{"Normal ComponentReady Component a is ready"}, f.told())
}
