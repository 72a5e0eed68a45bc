// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// changedSecretRestartsPods changes a Secret under requests. The application gets the new value, and no request may be lost.
func changedSecretRestartsPods(n *framework.Namespace) {
	n.Kubectl.Run("create", "secret", "generic", "token", "--from-literal=TOKEN=old")
	n.CreateReadyBox(newAppBox("web", checkedOften, framework.WithReplicas(2), func(spec *modelv1.ModelBoxSpec) {
		spec.RestartOn = ptr.To(modelv1.RestartOnReferences)
		spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}}}}
	}))
	awaitAnswer(n, "web", "/environment/TOKEN")
	traffic := startTraffic(n.T, &http.Transport{}, nodePortURL(n, "web", 80)+"/environment/TOKEN")
	traffic.measure(n, 50)
	n.Kubectl.Run("patch", "secret/token", `--patch={"stringData":{"TOKEN":"new"}}`)
	n.Events.Await("web", "Restarted", "Secret token (TOKEN)")
	n.AwaitReady("web")
	awaitSettledPods(n, "web", 2)
	if answers := traffic.measure(n, 50); answers["old"] > 0 {
		n.T.Errorf("after the restart, the answers are %v", answers)
	}
	traffic.expectNoneLost(n, "old", "new")
}
