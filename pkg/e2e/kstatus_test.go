// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestKStatus has a box judged by kstatus, which many tools wait with.
func TestKStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		arrange func(n *namespace)
		want    string
	}{
		{
			"a new box",
			func(n *namespace) { n.create(newBox("web", onNoNode)) },
			"InProgress: ",
		},
		{
			"a box that is Ready",
			func(n *namespace) { n.createReady(newBox("web")) },
			"Current: ",
		},
		{
			"a box that was Ready until it changed",
			func(n *namespace) {
				n.createReady(newBox("web"))
				n.change("web", onNoNode)
			},
			"InProgress: ",
		},
		{
			"a rollout that does not get further",
			func(n *namespace) {
				n.createReady(newBox("web"))
				n.change("web", onNoNode)
				n.awaitBox("web", "cannot be scheduled", func(box *modelv1.ModelBox) error {
					return hasCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, corev1.PodReasonUnschedulable)
				})
			},
			"InProgress: pod web-",
		},
		{
			"a box whose name is taken",
			func(n *namespace) {
				if _, err := n.deployments.Create(n.ctx, foreignDeployment("web"), metav1.CreateOptions{}); err != nil {
					n.t.Fatal(err)
				}
				n.create(newBox("web"))
				n.awaitNotOwned("web")
			},
			"Failed: a Deployment named web exists already",
		},
		{
			"a box that a finalizer holds",
			func(n *namespace) {
				box := newBox("web")
				box.Finalizers = []string{"example.com/held"}
				n.createReady(box)
				n.t.Cleanup(func() {
					_, _ = n.boxes.Patch(context.WithoutCancel(n.ctx), "web", types.MergePatchType,
						[]byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
				})
				n.kubectl("delete", "mb", "web", "--wait=false")
			},
			"Terminating: ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			test.arrange(n)
			if said := n.client("kstatus", n.name, "web"); !strings.HasPrefix(said, test.want) {
				t.Errorf("want %q, got %q", test.want, said)
			}
		})
	}
}

// onNoNode asks for nodes that there are not, so that no pod of the box ever runs.
func onNoNode(spec *modelv1.ModelBoxSpec) {
	spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeSelector: map[string]string{"disk": "none"}}}
}
