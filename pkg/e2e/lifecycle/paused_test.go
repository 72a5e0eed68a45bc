// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestPausedBoxChangesNothing(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	deployment, service := n.GetDeployment("web"), n.GetService("web")

	n.UpdateBox("web", framework.Pause)
	n.AwaitReady("web") // its children still match

	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.UpdateBox("web", framework.WithPorts())
	n.AwaitPaused("web")
	framework.ExpectEqual(t, "spec of the Deployment", deployment.Spec, n.GetDeployment("web").Spec)
	framework.ExpectEqual(t, "resourceVersion of the Service", service.ResourceVersion, n.GetService("web").ResourceVersion)

	n.UpdateBox("web", framework.Unpause)
	n.AwaitReady("web")
	framework.ExpectEqual(t, "image", framework.NewImage, n.GetDeployment("web").Spec.Template.Spec.Containers[0].Image)
	if _, err := n.Services.Get(n.Ctx, "web", metav1.GetOptions{}); framework.CheckGone(err) != nil {
		t.Errorf("the Service of a box without ports: %v", framework.CheckGone(err))
	}
}

func TestBoxCreatedPausedHasNoDeployment(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox("web", framework.Pause))
	n.AwaitPaused("web")
	if _, err := n.Deployments.Get(n.Ctx, "web", metav1.GetOptions{}); framework.CheckGone(err) != nil {
		t.Errorf("the Deployment of a box that starts paused: %v", framework.CheckGone(err))
	}
	n.UpdateBox("web", framework.Unpause)
	n.AwaitReady("web")
}
