// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestWarnings reads what kubectl shows of the warning header.
func TestWarnings(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.kubectlWith(boxManifest("image: 'nginx:1.7.9', replicas: 2, minReadySeconds: 0, ports: [{port: 80}]"), "apply", "--filename=-")
	n.awaitReady("web")
	other := strings.Replace(boxManifest("image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31999}]"), "name: web", "name: other", 1)
	n.kubectlWith(other, "apply", "--filename=-")

	const spec = "replicas: 2, minReadySeconds: 0, "
	for _, test := range []struct{ name, spec, want string }{
		{"another image replaces every pod", spec + "image: 'nginx:1.8', ports: [{port: 80}]", "rolls 2 pods"},
		{"an image without a tag is a moving one", spec + "image: nginx, ports: [{port: 80}]", `spec.image: "nginx" has no tag`},
		{"the tag latest moves", spec + "image: 'nginx:latest', ports: [{port: 80}]", `spec.image: the tag "latest" moves`},
		{"a Service type without ports does nothing", spec + "image: 'nginx:1.7.9', serviceType: NodePort", "spec.serviceType: has no effect without ports"},
		{"a node port that another box asks for", spec + "image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31999}]", "spec.ports[0].nodePort: 31999/TCP is asked for by ModelBox other"},
		{"another image of a paused box replaces every pod later", spec + "paused: true, image: 'nginx:1.8', ports: [{port: 80}]", "will roll 2 pods when the box is unpaused"},
		{"a Service that becomes headless is replaced", spec + "image: 'nginx:1.7.9', serviceType: Headless, ports: [{port: 80}]", "spec.serviceType: Service web is replaced by a headless one"},
		{"a Service without ports is deleted", spec + "image: 'nginx:1.7.9'", "spec.ports: without ports there is no Service: Service web is deleted"},
		{"more replicas replace no pod", "minReadySeconds: 0, replicas: 3, image: 'nginx:1.7.9', ports: [{port: 80}]", ""},
		{"another port of the Service replaces no pod", spec + "image: 'nginx:1.7.9', ports: [{port: 81, targetPort: 80}]", ""},
		{"an image with a digest does not move", spec + "image: 'nginx@sha256:" + strings.Repeat("a", 64) + "', ports: [{port: 80}]", "rolls 2 pods"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := n.in(t)
			run := runKubectl(n.kubectlCommand("apply", "--dry-run=server", "--filename=-"), boxManifest(test.spec))
			if run.err != nil {
				t.Fatal(run.stderr)
			}
			if test.want == "" && run.stderr != "" || !strings.Contains(run.stderr, test.want) {
				t.Errorf("want %q, got:\n%s", test.want, run.stderr)
			}
		})
	}
}

// TestWarningsTellNothingOfHiddenBoxes asks for a node port that a box of another namespace asks for.
func TestWarningsTellNothingOfHiddenBoxes(t *testing.T) {
	t.Parallel()
	n, other := newNamespace(t), newNamespace(t)
	other.create(newBox("hidden", withPorts(corev1.ServicePort{Port: 80, NodePort: 31997})))
	n.kubectl("create", "rolebinding", "editor", "--clusterrole=edit", "--user=editor")
	n.awaitRight("editor", "create services")
	const spec = "image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31997}]"
	for _, test := range []struct{ user, want string }{
		{"editor", "spec.ports[0].nodePort: 31997/TCP is asked for by another ModelBox already"},
		{"admin", "spec.ports[0].nodePort: 31997/TCP is asked for by ModelBox hidden in namespace " + other.name + " already"},
	} {
		n.eventually(test.user+" is warned", func() error {
			arguments := []string{"apply", "--dry-run=server", "--filename=-", "--as=" + test.user}
			if test.user == "admin" {
				arguments = append(arguments, "--as-group=system:masters")
			}
			run := runKubectl(n.kubectlCommand(arguments...), boxManifest(spec))
			if run.err != nil || !strings.Contains(run.stderr, test.want) {
				return fmt.Errorf("want %q, got:\n%s", test.want, run.stderr)
			}
			return nil
		})
	}
}

// TestWarningsOfRollouts reverts a rollout that does not get on, and unpauses a box of which something is pending.
func TestWarningsOfRollouts(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	apply := func(spec string) string {
		n.t.Helper()
		run := runKubectl(n.kubectlCommand("apply", "--filename=-"), boxManifest("replicas: 3, minReadySeconds: 0, ports: [{port: 80}], "+spec))
		if run.err != nil {
			n.t.Fatal(run.stderr)
		}
		return run.stderr
	}
	expectWarning := func(what, want, got string) {
		n.t.Helper()
		if want == "" && got != "" || !strings.Contains(got, want) {
			n.t.Errorf("%s: want %q, got:\n%s", what, want, got)
		}
	}
	apply("image: 'nginx:1.7.9'")
	n.awaitReady("web")

	expectWarning("a rollout that does not get on", "Warning: rolls 3 pods\n", apply("image: 'nginx:1.8', podTemplate: {spec: {nodeSelector: {disk: nowhere}}}"))
	n.awaitBox("web", "has begun its rollout", func(box *modelv1.ModelBox) error {
		if box.Status.ObservedGeneration != box.Generation || box.Status.UpdatedReplicas == 0 || box.Status.UpdatedReplicas == box.Status.Replicas {
			return fmt.Errorf("its status is %+v", box.Status)
		}
		return nil
	})
	expectWarning("its revert", "rolls up to 3 pods: those that run the new pod template already stay", apply("image: 'nginx:1.7.9'"))
	n.awaitReady("web")

	expectWarning("a pause", "", apply("image: 'nginx:1.7.9', paused: true"))
	n.awaitReady("web")
	expectWarning("a change of a paused box", "Warning: will roll 3 pods when the box is unpaused\n", apply("image: 'nginx:1.8', paused: true"))
	n.awaitPaused("web")
	expectWarning("the end of the pause", "rolls up to 3 pods", apply("image: 'nginx:1.8'"))
	n.awaitReady("web")
}

// TestWarningsOfAutoscalers scales boxes that autoscalers scale as well, or their Deployments.
func TestWarningsOfAutoscalers(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	scale := func(replicas string) string {
		n.t.Helper()
		run := runKubectl(n.kubectlCommand("scale", "modelbox/web", "--replicas="+replicas), "")
		if run.err != nil {
			n.t.Fatal(run.stderr)
		}
		return run.stderr
	}
	if warning := scale("2"); warning != "" {
		t.Errorf("nobody else scales the box: %s", warning)
	}
	n.autoscale("deployment/web", 3)
	n.awaitPods("web", 3)
	n.awaitReady("web")
	if warning := scale("1"); !strings.Contains(warning, "spec.replicas: does not count while a HorizontalPodAutoscaler scales Deployment web, which has 3 replicas where the box has 2") {
		t.Errorf("an autoscaler scales the Deployment: %q", warning)
	}
	n.kubectl("delete", "hpa", "web")
	n.autoscale("modelbox/web", 4)
	n.awaitPods("web", 4)
	if warning := scale("5"); !strings.Contains(warning, "spec.replicas: a HorizontalPodAutoscaler sets this field and will do so again") {
		t.Errorf("an autoscaler scales the box: %q", warning)
	}
}
