// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestUpdateWarnsOfItsConsequences reads the warnings in the output of kubectl.
func TestUpdateWarnsOfItsConsequences(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(framework.Manifest("image: 'nginx:1.7.9', replicas: 2, minReadySeconds: 0, ports: [{port: 80}]"), "apply", "--filename=-")
	n.AwaitReady("web")
	other := strings.Replace(framework.Manifest("image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31999}]"), "name: web", "name: other", 1)
	n.Kubectl.RunWithInput(other, "apply", "--filename=-")

	const spec = "replicas: 2, minReadySeconds: 0, "
	for _, test := range []struct{ name, spec, want string }{
		{"another image replaces every pod", spec + "image: 'nginx:1.8', ports: [{port: 80}]", "rolls 2 pods"},
		{"an image without a tag is a moving one", spec + "image: nginx, ports: [{port: 80}]", `spec.image: "nginx" has no tag`},
		{"the tag latest moves", spec + "image: 'nginx:latest', ports: [{port: 80}]", `spec.image: the tag "latest" moves`},
		{"a Service type without ports does nothing", spec + "image: 'nginx:1.7.9', serviceType: NodePort", "spec.serviceType: has no effect without ports"},
		{"a node port that another box asks for", spec + "image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31999}]", "spec.ports[0].nodePort: " + warn.AlreadyRequested("31999/TCP", "ModelBox other")},
		{"another image of a paused box replaces every pod later", spec + "paused: true, image: 'nginx:1.8', ports: [{port: 80}]", "will roll 2 pods when the box is unpaused"},
		{"a Service that becomes headless is replaced", spec + "image: 'nginx:1.7.9', serviceType: Headless, ports: [{port: 80}]", "spec.serviceType: " + warn.ServiceBecomesHeadless("Service web is", "")},
		{"a Service without ports is deleted", spec + "image: 'nginx:1.7.9'", "spec.ports: " + warn.ServiceDeleted("Service web is", "", "")},
		{"more replicas replace no pod", "minReadySeconds: 0, replicas: 3, image: 'nginx:1.7.9', ports: [{port: 80}]", ""},
		{"another port of the Service replaces no pod", spec + "image: 'nginx:1.7.9', ports: [{port: 81, targetPort: 80}]", ""},
		{"an image with a digest does not move", spec + "image: 'nginx@sha256:" + strings.Repeat("a", 64) + "', ports: [{port: 80}]", "rolls 2 pods"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := n.In(t)
			run := framework.RunKubectl(n.Kubectl.Command("apply", "--dry-run=server", "--filename=-"), framework.Manifest(test.spec))
			if run.Err != nil {
				t.Fatal(run.Stderr)
			}
			if test.want == "" && run.Stderr != "" || !strings.Contains(run.Stderr, test.want) {
				t.Errorf("want %q, got:\n%s", test.want, run.Stderr)
			}
		})
	}
}

// TestWarningsHideBoxesOfOtherNamespaces requests a node port of a box in another namespace.
func TestWarningsHideBoxesOfOtherNamespaces(t *testing.T) {
	t.Parallel()
	n, other := framework.NewNamespace(t), framework.NewNamespace(t)
	other.CreateBox(framework.NewBox("hidden", framework.WithPorts(corev1.ServicePort{Port: 80, NodePort: 31997})))
	n.Kubectl.Run("create", "rolebinding", "editor", "--clusterrole=edit", "--user=editor")
	n.Kubectl.AwaitAllowed("editor", "create services")
	const spec = "image: 'nginx:1.7.9', ports: [{port: 80, nodePort: 31997}]"
	for _, test := range []struct{ user, want string }{
		{"editor", "spec.ports[0].nodePort: " + warn.AlreadyRequested("31997/TCP", "another ModelBox")},
		{"admin", "spec.ports[0].nodePort: " + warn.AlreadyRequested("31997/TCP", "ModelBox hidden in namespace "+other.Name)},
	} {
		n.Eventually(test.user+" is warned", func() error {
			arguments := []string{"apply", "--dry-run=server", "--filename=-", "--as=" + test.user}
			if test.user == "admin" {
				arguments = append(arguments, "--as-group=system:masters")
			}
			run := framework.RunKubectl(n.Kubectl.Command(arguments...), framework.Manifest(spec))
			if run.Err != nil || !strings.Contains(run.Stderr, test.want) {
				return fmt.Errorf("want %q, got:\n%s", test.want, run.Stderr)
			}
			return nil
		})
	}
}

// TestRolloutWarningsCountPods reverts a rollout without progress, and unpauses a box with pending changes.
func TestRolloutWarningsCountPods(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	apply := func(spec string) string {
		n.T.Helper()
		run := framework.RunKubectl(n.Kubectl.Command("apply", "--filename=-"), framework.Manifest("replicas: 3, minReadySeconds: 0, ports: [{port: 80}], "+spec))
		if run.Err != nil {
			n.T.Fatal(run.Stderr)
		}
		return run.Stderr
	}
	expectWarning := func(what, want, got string) {
		n.T.Helper()
		if want == "" && got != "" || !strings.Contains(got, want) {
			n.T.Errorf("%s: want %q, got:\n%s", what, want, got)
		}
	}
	apply("image: 'nginx:1.7.9'")
	n.AwaitReady("web")

	expectWarning("a rollout that does not get on", "Warning: rolls 3 pods\n", apply("image: 'nginx:1.8', podTemplate: {spec: {nodeSelector: {disk: nowhere}}}"))
	n.AwaitBox("web", "has begun its rollout", func(box *modelv1.ModelBox) error {
		if box.Status.ObservedGeneration != box.Generation || box.Status.UpdatedReplicas == 0 || box.Status.UpdatedReplicas == box.Status.Replicas {
			return fmt.Errorf("its status is %+v", box.Status)
		}
		return nil
	})
	expectWarning("its revert", "rolls up to 3 pods"+warn.UpdatedPodsStay, apply("image: 'nginx:1.7.9'"))
	n.AwaitReady("web")

	expectWarning("a pause", "", apply("image: 'nginx:1.7.9', paused: true"))
	n.AwaitReady("web")
	expectWarning("a change of a paused box", "Warning: will roll 3 pods when the box is unpaused\n", apply("image: 'nginx:1.8', paused: true"))
	n.AwaitPaused("web")
	expectWarning("the end of the pause", "rolls up to 3 pods", apply("image: 'nginx:1.8'"))
	n.AwaitReady("web")
}

// TestScaleWarnsOfAutoscaler scales boxes whose autoscaler scales the box or its Deployment.
func TestScaleWarnsOfAutoscaler(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	scale := func(replicas string) string {
		n.T.Helper()
		run := framework.RunKubectl(n.Kubectl.Command("scale", "modelbox/web", "--replicas="+replicas), "")
		if run.Err != nil {
			n.T.Fatal(run.Stderr)
		}
		return run.Stderr
	}
	if warning := scale("2"); warning != "" {
		t.Errorf("a warning although no other client scales the box: %s", warning)
	}
	n.Autoscale("deployment/web", 3)
	n.AwaitPods("web", 3)
	n.AwaitReady("web")
	if warning := scale("1"); !strings.Contains(warning, "spec.replicas: "+warn.WorkloadAutoscaled("Deployment web", 3, 2)) {
		t.Errorf("an autoscaler scales the Deployment: %q", warning)
	}
	n.Kubectl.Run("delete", "hpa", "web")
	n.Autoscale("modelbox/web", 4)
	n.AwaitPods("web", 4)
	if warning := scale("5"); !strings.Contains(warning, "spec.replicas: "+warn.SetByAutoscaler) {
		t.Errorf("an autoscaler scales the box: %q", warning)
	}
}
