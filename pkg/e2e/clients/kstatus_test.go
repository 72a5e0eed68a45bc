// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestKStatusReadsConditions checks the status of a box by kstatus, which many tools use to wait.
func TestKStatusReadsConditions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		arrange func(n *framework.Namespace)
		want    string
	}{
		{
			"a new box",
			func(n *framework.Namespace) { n.CreateBox(framework.NewBox("web", framework.Unschedulable)) },
			"InProgress: ",
		},
		{
			"a box that is Ready",
			func(n *framework.Namespace) { n.CreateReadyBox(framework.NewBox("web")) },
			"Current: ",
		},
		{
			"a box that was Ready until it changed",
			func(n *framework.Namespace) {
				n.CreateReadyBox(framework.NewBox("web"))
				n.UpdateBox("web", framework.Unschedulable)
			},
			"InProgress: ",
		},
		{
			"a rollout that does not get further",
			func(n *framework.Namespace) {
				n.CreateReadyBox(framework.NewBox("web"))
				n.UpdateBox("web", framework.Unschedulable)
				n.AwaitBox("web", "cannot be scheduled", func(box *modelv1.ModelBox) error {
					return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, corev1.PodReasonUnschedulable)
				})
			},
			"InProgress: pod web-",
		},
		{
			"a box whose name is taken",
			func(n *framework.Namespace) {
				if _, err := n.Deployments.Create(n.Ctx, framework.ForeignDeployment("web"), metav1.CreateOptions{}); err != nil {
					n.T.Fatal(err)
				}
				n.CreateBox(framework.NewBox("web"))
				n.AwaitNotOwned("web")
			},
			"Failed: a Deployment named web exists already",
		},
		{
			"a box that a finalizer holds",
			func(n *framework.Namespace) {
				box := framework.NewBox("web")
				box.Finalizers = []string{"example.com/held"}
				n.CreateReadyBox(box)
				n.T.Cleanup(func() {
					_, _ = n.Boxes.Patch(context.WithoutCancel(n.Ctx), "web", types.MergePatchType,
						[]byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
				})
				n.Kubectl.Run("delete", "mb", "web", "--wait=false")
			},
			"Terminating: ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			test.arrange(n)
			if said := runProgram(n, "kstatus", n.Name, "modelboxes", "web"); !strings.HasPrefix(said, test.want) {
				t.Errorf("want %q, got %q", test.want, said)
			}
		})
	}
}

// TestKStatusReadsConditionsOfStacks checks the status of a stack by kstatus.
func TestKStatusReadsConditionsOfStacks(t *testing.T) {
	t.Parallel()
	newStack := func(changes ...func(*modelv1.ModelBoxSpec)) *modelv1.ModelStack {
		db, web := framework.NewBox("db", changes...).Spec, framework.NewBox("web").Spec
		return &modelv1.ModelStack{
			ObjectMeta: metav1.ObjectMeta{Name: "shop"},
			Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
				{Name: "db", BoxName: "db", Box: &db},
				{Name: "web", BoxName: "web", DependsOn: []string{"db"}, Box: &web},
			}},
		}
	}
	create := func(n *framework.Namespace, stack *modelv1.ModelStack) {
		n.T.Helper()
		if _, err := n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name).Create(n.Ctx, stack, metav1.CreateOptions{}); err != nil {
			n.T.Fatal(err)
		}
	}
	await := func(n *framework.Namespace, condition string) {
		n.T.Helper()
		n.Kubectl.Run("wait", "mst/shop", "--for=condition="+condition, "--timeout="+framework.Patience.String())
	}
	for _, test := range []struct {
		name    string
		arrange func(n *framework.Namespace)
		want    string
	}{
		{
			"a new stack",
			func(n *framework.Namespace) { create(n, newStack(framework.Unschedulable)) },
			"InProgress: ",
		},
		{
			"a stack that is Ready",
			func(n *framework.Namespace) {
				create(n, newStack())
				await(n, "Ready")
			},
			"Current: ",
		},
		{
			"a stack that was Ready until it changed",
			func(n *framework.Namespace) {
				create(n, newStack())
				await(n, "Ready")
				n.Kubectl.Run("patch", "mst", "shop", "--patch="+
					`{"spec": {"components": [{"name": "web", "box": {"podTemplate": {"spec": {"nodeSelector": {"disk": "none"}}}}}]}}`)
			},
			"InProgress: ",
		},
		{
			"a stack of which the name of a box is taken",
			func(n *framework.Namespace) {
				n.CreateBox(framework.NewBox("db"))
				create(n, newStack())
				await(n, "Stalled")
			},
			"Failed: ",
		},
		{
			"a stack that is being deleted",
			func(n *framework.Namespace) {
				stack := newStack()
				stack.Finalizers = []string{"example.com/held"}
				create(n, stack)
				n.T.Cleanup(func() {
					_, _ = n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name).Patch(context.WithoutCancel(n.Ctx), "shop", types.MergePatchType,
						[]byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
				})
				n.Kubectl.Run("delete", "mst", "shop", "--wait=false")
			},
			"Terminating: ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			test.arrange(n)
			if said := runProgram(n, "kstatus", n.Name, "modelstacks", "shop"); !strings.HasPrefix(said, test.want) {
				t.Errorf("want %q, got %q", test.want, said)
			}
		})
	}
}
