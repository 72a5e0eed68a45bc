// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// budgeted lets one pod of the box be evicted at a time.
func budgeted(box *modelv1.ModelBox) {
	box.Spec.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MaxUnavailable: ptr.To(intstr.FromInt32(1))}
}

func (f *testController) disruptionBudget(t *testing.T) *policyv1.PodDisruptionBudget {
	t.Helper()
	budget, err := f.cluster.PolicyV1().PodDisruptionBudgets(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return budget
}

func TestReconcileWritesTheDisruptionBudgetOnce(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, budgeted))
	f.converge(t)
	f.restart()
	f.mustReconcile(t)
	check(t, "requests", []string(nil), f.requests())
	check(t, "selector", map[string]string{modelv1.SelectorLabel: "web"}, f.disruptionBudget(t).Spec.Selector.MatchLabels)
}

// A budget has one of two limits. The limit that a user has set in place of the limit of the box goes.
func TestReconcileRestoresTheLimitOfTheDisruptionBudget(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, budgeted))
	f.converge(t)
	changed := f.disruptionBudget(t)
	changed.Spec.MaxUnavailable, changed.Spec.MinAvailable = nil, ptr.To(intstr.FromString("90%"))
	if _, err := f.cluster.PolicyV1().PodDisruptionBudgets(changed.Namespace).Update(t.Context(), changed, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
	f.mustReconcile(t)
	spec := f.disruptionBudget(t).Spec
	check(t, "pods that may be missing", ptr.To(intstr.FromInt32(1)), spec.MaxUnavailable)
	check(t, "pods that have to be there", (*intstr.IntOrString)(nil), spec.MinAvailable)
}

func TestDisruptionBudgetGetsTheOtherLimit(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, budgeted))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MinAvailable: ptr.To(intstr.FromInt32(1))}
	})
	f.catchUp(t)
	f.mustReconcile(t)
	spec := f.disruptionBudget(t).Spec
	check(t, "pods that have to be there", ptr.To(intstr.FromInt32(1)), spec.MinAvailable)
	check(t, "pods that may be missing", (*intstr.IntOrString)(nil), spec.MaxUnavailable)
}
