// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestVerbsWorkOnBoxOrDeployment runs the commands of kubectl in docs/tools.md.
func TestVerbsWorkOnBoxOrDeployment(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))

	const box, deployment = "mb/web", "deploy/web"
	for _, command := range [][]string{
		{"get", box}, {"describe", box}, {"events", "--for=" + box}, {"wait", "--for=condition=Ready", box},
		{"label", box, "team=shop"}, {"annotate", box, "example.com/contact=shop"},
		{"patch", box, "--type=merge", `--patch={"spec":{"args":["--verbose"]}}`},
		{"scale", box, "--replicas=2"}, {"autoscale", box, "--max=3", "--dry-run=server"},
		{"rollout", "status", deployment}, {"rollout", "history", deployment}, {"rollout", "restart", deployment},
		{"rollout", "pause", deployment}, {"rollout", "resume", deployment},
		{"autoscale", deployment, "--max=3", "--dry-run=server"},
	} {
		n.Kubectl.Run(command...)
	}
	for _, command := range [][]string{
		{"logs", box}, {"exec", box, "--", "true"}, {"attach", box}, {"port-forward", box, ":80"},
		{"rollout", "status", box}, {"rollout", "history", box}, {"rollout", "restart", box}, {"rollout", "undo", box},
		{"rollout", "pause", box}, {"rollout", "resume", box},
		{"set", "image", box, "web=" + framework.NewImage}, {"set", "env", box, "MODE=debug"}, {"set", "resources", box, "--limits=cpu=1"},
	} {
		if complaint := n.Kubectl.RunFailing("", command...); !strings.Contains(complaint, `no kind "ModelBox" is registered`) {
			t.Errorf("kubectl %s: %s", strings.Join(command, " "), complaint)
		}
	}

	n.AwaitReady("web")
	n.Kubectl.Run("set", "image", deployment, "web="+framework.NewImage)
	n.Kubectl.Run("scale", deployment, "--replicas=3")
	n.AwaitDeployment("web", "is what the box says again", func(deployment *appsv1.Deployment) error {
		if *deployment.Spec.Replicas != 2 {
			return errors.New("it has another number of replicas")
		}
		return framework.CheckImage(deployment, framework.Image)
	})
}
