// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func withMinAvailable(value intstr.IntOrString) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MinAvailable: &value}
	}
}

func withMaxUnavailable(value intstr.IntOrString) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MaxUnavailable: &value}
	}
}

// TestEvictionsKeepTheDisruptionBudget requests evictions, like kubectl drain, with a budget of each kind.
func TestEvictionsKeepTheDisruptionBudget(t *testing.T) {
	t.Parallel()
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet} {
		t.Run(string(workload), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(workload), withMinAvailable(intstr.FromString("100%"))))
			n.AwaitDisruptionBudget("web", 2, 0)
			if err := evict(n, "web"); !apierrors.IsTooManyRequests(err) {
				t.Errorf("an eviction that leaves one of two pods, both of which have to stay: %v", err)
			}
			n.UpdateBox("web", withMinAvailable(intstr.FromInt32(1)))
			n.AwaitDisruptionBudget("web", 2, 1)
			n.UpdateBox("web", withMaxUnavailable(intstr.FromInt32(0)))
			n.AwaitDisruptionBudget("web", 2, 0)
			if err := evict(n, "web"); !apierrors.IsTooManyRequests(err) {
				t.Errorf("an eviction where no pod may be missing: %v", err)
			}
			n.UpdateBox("web", withMaxUnavailable(intstr.FromString("1%")))
			n.AwaitDisruptionBudget("web", 2, 1)
			n.AwaitApplied("web")
			before, writes := podUIDs(n), n.Audit.ChildWrites("web")
			if err := evict(n, "web"); err != nil {
				t.Errorf("an eviction of the one pod that may be missing: %v", err)
			}
			n.Eventually("another pod is in its place", func() error {
				after := podUIDs(n)
				kept := slices.DeleteFunc(slices.Clone(after), func(uid types.UID) bool { return !slices.Contains(before, uid) })
				if len(after) != 2 || len(kept) != 1 {
					return fmt.Errorf("there are %d pods, %d of them as before", len(after), len(kept))
				}
				return nil
			})
			// The number of allowed disruptions may be wrong for two minutes: the new pod of a StatefulSet has the name of the
			// evicted pod, and counts as evicted if Kubernetes has not observed the deletion.
			n.AwaitReady("web")
			framework.ExpectEqual(t, "writes of the children", writes, n.Audit.ChildWrites("web"))
		})
	}
}

// TestDisruptionBudgetIsKept edits the budget of a box so that a merge alone cannot restore it, and then removes the budget from
// the box.
func TestDisruptionBudgetIsKept(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), withMaxUnavailable(intstr.FromInt32(1))))
	budgets := n.ControlPlane.KubeClient.PolicyV1().PodDisruptionBudgets(n.Name)
	for _, patch := range []string{
		`{"spec": {"maxUnavailable": 0}}`,
		`{"spec": {"maxUnavailable": null, "minAvailable": 2}}`,
		`{"spec": {"selector": {"matchLabels": {"modelbox": "other"}}}}`,
	} {
		if _, err := budgets.Patch(n.Ctx, "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: framework.OtherManager}); err != nil {
			t.Fatalf("%s: %v", patch, err)
		}
		n.Eventually("the budget is as the box says after "+patch, func() error {
			budget, err := budgets.Get(n.Ctx, "web", metav1.GetOptions{})
			if err != nil {
				return err
			}
			spec := &budget.Spec
			if ptr.Deref(spec.MaxUnavailable, intstr.FromInt32(0)) != intstr.FromInt32(1) || spec.MinAvailable != nil || spec.Selector.MatchLabels["modelbox"] != "web" {
				return fmt.Errorf("it is %+v", spec)
			}
			return nil
		})
	}
	n.Kubectl.Run("delete", "pdb", "web")
	n.AwaitDisruptionBudget("web", 2, 1)

	run := framework.RunKubectl(n.Kubectl.Command("patch", "modelbox", "web", "--type=merge", "--dry-run=server",
		`--patch={"spec": {"disruptionBudget": {"maxUnavailable": null, "minAvailable": 2}}}`), "")
	if run.Err != nil || !strings.Contains(run.Stderr, "spec.disruptionBudget.minAvailable: "+warn.NoEviction(" while the box has 2 pods")) {
		t.Errorf("a budget that blocks every eviction: %v %s", run.Err, run.Stderr)
	}

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.DisruptionBudget = nil })
	n.Eventually("there is no budget", func() error {
		_, err := budgets.Get(n.Ctx, "web", metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	for range 2 {
		if err := evict(n, "web"); err != nil {
			t.Errorf("an eviction without a budget: %v", err)
		}
	}
}

// evict requests the eviction of a pod of the box.
func evict(n *framework.Namespace, box string) error {
	n.T.Helper()
	pods, err := n.LivePods(box)
	if err != nil || len(pods) == 0 {
		n.T.Fatalf("there are %d pods: %v", len(pods), err)
	}
	return n.ControlPlane.KubeClient.PolicyV1().Evictions(n.Name).Evict(n.Ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: n.Name, Name: pods[0].Name},
	})
}
