// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestPodSecurity compares what a namespace says of a box with what it says of a Deployment and of a pod.
func TestPodSecurity(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	label := func(mode, level string) {
		n.t.Helper()
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {"pod-security.kubernetes.io/%s": "%s"}}}`, mode, level)
		if _, err := n.plane.kube.CoreV1().Namespaces().Patch(n.ctx, n.name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			n.t.Fatal(err)
		}
	}
	stderr := func(manifest string, arguments ...string) string {
		n.t.Helper()
		return runKubectl(n.kubectlCommand(arguments...), manifest).stderr
	}
	const spec = "image: 'nginx:1.7.9', minReadySeconds: 0"

	label("warn", "restricted")
	var warning string
	n.eventually("the namespace warns of a Deployment", func() error {
		warning = stderr("", "create", "deployment", "other", "--image=nginx:1.7.9", "--dry-run=server")
		if !strings.Contains(warning, `would violate PodSecurity "restricted:latest"`) {
			return fmt.Errorf("it says %q", warning)
		}
		return nil
	})
	warning = strings.ReplaceAll(warning, `container "nginx"`, `container "web"`)
	n.eventually("a box is warned of as a Deployment is", func() error {
		if got := stderr(boxManifest(spec), "apply", "--dry-run=server", "--filename=-"); got != warning {
			return fmt.Errorf("got  %s\nwant %s", got, warning)
		}
		return nil
	})
	n.kubectlWith(boxManifest(spec), "apply", "--filename=-")
	n.awaitReady("web")

	label("enforce", "restricted")
	var violation string
	n.eventually("the namespace refuses a pod", func() error {
		refusal := stderr("", "run", "web", "--image=nginx:1.7.9", "--dry-run=server")
		if _, violation, _ = strings.Cut(refusal, "forbidden: "); !strings.HasPrefix(violation, `violates PodSecurity "restricted:latest"`) {
			return fmt.Errorf("it says %q", refusal)
		}
		return nil
	})
	n.eventually("a box is refused as a pod is", func() error {
		got := stderr(boxManifest("image: 'nginx:1.8', minReadySeconds: 0"), "apply", "--dry-run=server", "--filename=-")
		if !strings.Contains(got, violation) {
			return fmt.Errorf("got  %s\nwant %s", got, violation)
		}
		return nil
	})

	// The pods that run do not have to go, and neither do changes that leave them alone.
	n.kubectl("label", "modelbox/web", "team=shop")
	n.kubectl("scale", "modelbox/web", "--replicas=0")
	n.kubectlWith(boxManifest(spec+", replicas: 0, paused: true"), "apply", "--filename=-")
	n.kubectlWith(boxManifest(spec+`, podTemplate: {spec: {
		securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}},
		containers: [{name: web, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}`), "apply", "--filename=-")
	n.awaitReady("web")
}
