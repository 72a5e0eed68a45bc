// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestPodSecurityAppliesToBoxes compares what a namespace says of a box with what it says of a Deployment and of a pod.
func TestPodSecurityAppliesToBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	label := func(mode, level string) {
		n.T.Helper()
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {"pod-security.kubernetes.io/%s": "%s"}}}`, mode, level)
		if _, err := n.ControlPlane.KubeClient.CoreV1().Namespaces().Patch(n.Ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			n.T.Fatal(err)
		}
	}
	stderr := func(manifest string, arguments ...string) string {
		n.T.Helper()
		return framework.RunKubectl(n.Kubectl.Command(arguments...), manifest).Stderr
	}
	const spec = "image: 'nginx:1.7.9', minReadySeconds: 0"

	label("warn", "restricted")
	var warning string
	n.Eventually("the namespace warns of a Deployment", func() error {
		warning = stderr("", "create", "deployment", "other", "--image=nginx:1.7.9", "--dry-run=server")
		if !strings.Contains(warning, `would violate PodSecurity "restricted:latest"`) {
			return fmt.Errorf("it says %q", warning)
		}
		return nil
	})
	warning = strings.ReplaceAll(warning, `container "nginx"`, `container "web"`)
	n.Eventually("a box is warned of as a Deployment is", func() error {
		if got := stderr(framework.Manifest(spec), "apply", "--dry-run=server", "--filename=-"); got != warning {
			return fmt.Errorf("got  %s\nwant %s", got, warning)
		}
		return nil
	})
	n.Kubectl.RunWithInput(framework.Manifest(spec), "apply", "--filename=-")
	n.AwaitReady("web")

	label("enforce", "restricted")
	var violation string
	n.Eventually("the namespace refuses a pod", func() error {
		refusal := stderr("", "run", "web", "--image=nginx:1.7.9", "--dry-run=server")
		if _, violation, _ = strings.Cut(refusal, "forbidden: "); !strings.HasPrefix(violation, `violates PodSecurity "restricted:latest"`) {
			return fmt.Errorf("it says %q", refusal)
		}
		return nil
	})
	n.Eventually("a box is refused as a pod is", func() error {
		got := stderr(framework.Manifest("image: 'nginx:1.8', minReadySeconds: 0"), "apply", "--dry-run=server", "--filename=-")
		if !strings.Contains(got, violation) {
			return fmt.Errorf("got  %s\nwant %s", got, violation)
		}
		return nil
	})

	// The pods that run do not have to go, and neither do changes that leave them alone.
	n.Kubectl.Run("label", "modelbox/web", "team=shop")
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=0")
	n.Kubectl.RunWithInput(framework.Manifest(spec+", replicas: 0, paused: true"), "apply", "--filename=-")
	n.Kubectl.RunWithInput(framework.Manifest(spec+`, podTemplate: {spec: {
		securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
		containers: [{name: web, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}`), "apply", "--filename=-")
	n.AwaitReady("web")
}

// TestPodSecurityAppliesToComponentsOfStacks expects of each box of a stack what is expected of a box.
func TestPodSecurityAppliesToComponentsOfStacks(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("label", "namespace", n.Name, "pod-security.kubernetes.io/enforce=baseline")
	stack := func(podSpec string) string {
		return `{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {paused: true, components: [
			{name: db, box: {image: 'nginx:1.7.9', ports: [{port: 80}]}},
			{name: web, dependsOn: [db], box: {image: 'nginx:1.7.9', podTemplate: {spec: ` + podSpec + `}}}]}}`
	}
	n.Eventually("a component that shares the network of its node is refused", func() error {
		said := framework.RunKubectl(n.Kubectl.Command("apply", "--dry-run=server", "--filename=-"), stack("{hostNetwork: true}")).Stderr
		for _, words := range []string{"spec.components[1].box", `violates PodSecurity "baseline:latest"`, "host namespaces (hostNetwork=true)"} {
			if !strings.Contains(said, words) {
				return fmt.Errorf("it does not say %q: %s", words, said)
			}
		}
		return nil
	})
	n.Kubectl.RunWithInput(stack("{}"), "apply", "--filename=-")
	complaint := n.Kubectl.RunFailing(stack("{hostPID: true}"), "apply", "--filename=-")
	if !strings.Contains(complaint, "host namespaces (hostPID=true)") {
		t.Errorf("the change is not refused for it: %s", complaint)
	}
}
