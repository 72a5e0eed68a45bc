// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/metrics/testutil"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// A panic is injected where the first child is written.
func TestAPanicIsAFailureOfTheBoxAlone(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	registry := f.measure()
	f.converge(t)
	f.scaleByAnotherClient(t)
	before := f.boxInServer(t).Status
	isBroken := true
	f.cluster.PrependReactor("patch", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		if isBroken {
			panic("injected")
		}
		return false, nil, nil
	})

	_, err := f.ReconcileSafely(t.Context(), fixture.WebKey)
	var panicked *reconciler.PanicError
	if !errors.As(err, &panicked) || panicked.Value != "injected" {
		t.Fatalf("got error %v, want the panic: the box has to be tried again", err)
	}
	check(t, "applied", "False Error", f.status(t).applied)
	check(t, "ready", "False NotApplied", f.status(t).ready)
	const message = "panic: injected; this is a defect of the server, whose log has the stack"
	after := f.boxInServer(t).Status
	check(t, "message", message, meta.FindStatusCondition(after.Conditions, modelv1.ConditionApplied).Message)
	check(t, "events", []string{"Warning Error " + message}, f.told())
	check(t, "selector, which is still true", before.Selector, after.Selector)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP modelbox_controller_reconcile_panics_total [ALPHA] Number of panics during a reconcile of a box. Each panic is a defect. The log has its stack trace.
# TYPE modelbox_controller_reconcile_panics_total counter
modelbox_controller_reconcile_panics_total 1
`), "modelbox_controller_reconcile_panics_total"); err != nil {
		t.Error(err)
	}

	isBroken = false
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "applied", "True Applied", f.status(t).applied)
}

// The worker is what the process would end with.
func TestAPanicDoesNotEndTheWorker(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.cluster.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { panic("injected") })
	f.Queue.Add(fixture.WebKey)
	if !f.ReconcileNext(t.Context()) {
		t.Error("the worker has ended")
	}
	check(t, "failures", 1, f.Queue.NumRequeues(fixture.WebKey))
}

// The code that reports a panic may panic as well.
func TestAPanicThatCannotBeToldIsStillAnError(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	f.cluster.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { panic("injected") })
	f.boxes.PrependReactor("update", "*", func(clienttesting.Action) (bool, runtime.Object, error) { panic("injected again") })
	if _, err := f.ReconcileSafely(t.Context(), fixture.WebKey); err == nil {
		t.Error("got no error: the box would not be tried again")
	}
}
