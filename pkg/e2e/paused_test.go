// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func pause(spec *modelv1.ModelBoxSpec)   { spec.Paused = true }
func unpause(spec *modelv1.ModelBoxSpec) { spec.Paused = false }

func TestPausedBoxWaits(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	deployment, service := n.deployment("web"), n.service("web")

	n.change("web", pause)
	n.awaitReady("web") // it still is what it says

	n.change("web", withImage(newImage))
	n.change("web", withPorts())
	n.awaitPaused("web")
	expectEqual(t, "spec of the Deployment", deployment.Spec, n.deployment("web").Spec)
	expectEqual(t, "resourceVersion of the Service", service.ResourceVersion, n.service("web").ResourceVersion)

	n.change("web", unpause)
	n.awaitReady("web")
	expectEqual(t, "image", newImage, n.deployment("web").Spec.Template.Spec.Containers[0].Image)
	if _, err := n.services.Get(n.ctx, "web", metav1.GetOptions{}); expectGone(err) != nil {
		t.Errorf("the Service of a box without ports: %v", expectGone(err))
	}
}

func TestBoxThatStartsPaused(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.create(newBox("web", pause))
	n.awaitPaused("web")
	if _, err := n.deployments.Get(n.ctx, "web", metav1.GetOptions{}); expectGone(err) != nil {
		t.Errorf("the Deployment of a box that starts paused: %v", expectGone(err))
	}
	n.change("web", unpause)
	n.awaitReady("web")
}

func (n *namespace) awaitPaused(box string) {
	n.t.Helper()
	n.awaitBox(box, "says that it waits", func(box *modelv1.ModelBox) error {
		return hasCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonPaused)
	})
}
