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

// TestKStatusReadsConditions has a box judged by kstatus, which many tools wait with.
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
			if said := runProgram(n, "kstatus", n.Name, "web"); !strings.HasPrefix(said, test.want) {
				t.Errorf("want %q, got %q", test.want, said)
			}
		})
	}
}
