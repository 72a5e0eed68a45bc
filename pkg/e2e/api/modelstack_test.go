// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// stackManifest is the manifest of the stack shop.
func stackManifest(components string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {components: [%s]}}", components)
}

func getStack(n *framework.Namespace, name string) *modelv1.ModelStack {
	n.T.Helper()
	stack, err := n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	return stack
}

// getComponent returns a component of the stack shop, which must have a box.
func getComponent(n *framework.Namespace, name string) modelv1.ModelStackComponent {
	n.T.Helper()
	for _, component := range getStack(n, "shop").Spec.Components {
		if component.Name == name && component.Box != nil {
			return component
		}
	}
	n.T.Fatalf("the stack has no component %s with a box", name)
	return modelv1.ModelStackComponent{}
}

func TestStacksAreKeptByKubectl(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("apply", "--filename="+framework.Sample("modelstack.yaml"))
	stack := getStack(n, "modelstack-sample")
	var names []string
	for _, component := range stack.Spec.Components {
		names = append(names, component.Name+" "+component.BoxName)
	}
	framework.ExpectEqual(t, "names of boxes", []string{"mail modelstack-sample-mail", "api modelstack-sample-api", "web modelstack-sample-web"}, names)
	framework.ExpectEqual(t, "replicas that the stack does not give", (*int32)(nil), stack.Spec.Components[2].Box.Replicas)
	framework.ExpectEqual(t, "rollout", modelv1.ComponentsOrdered, stack.Spec.Rollout)

	table := strings.Split(strings.TrimSpace(n.Kubectl.Run("get", "mst")), "\n")
	framework.ExpectEqual(t, "columns", "NAME READY STATUS WAITING FOR AGE", strings.Join(strings.Fields(table[0]), " "))
	framework.ExpectEqual(t, "rows", 2, len(table))
	n.Eventually("the selector of stacks that are ready finds it", func() error {
		if selected := strings.TrimSpace(n.Kubectl.Run("get", "mst", "--field-selector=status.ready=true", "--output=name")); selected != "modelstack.model.github.com/modelstack-sample" {
			return fmt.Errorf("got %q", selected)
		}
		return nil
	})
	if all := n.Kubectl.Run("get", "all"); !strings.Contains(all, "modelstack.model.github.com/modelstack-sample") {
		t.Errorf("kubectl get all has no stack:\n%s", all)
	}

	// The merge keys are the name of the component and the name of the variable.
	n.Kubectl.Run("patch", "mst/modelstack-sample", "--type=strategic",
		`--patch={"spec": {"components": [{"name": "web", "box": {"image": "nginx:1.8", "envs": [{"name": "A", "value": "a"}]}}]}}`)
	n.Kubectl.Run("patch", "mst/modelstack-sample", "--type=strategic",
		`--patch={"spec": {"components": [{"name": "web", "box": {"envs": [{"name": "B", "value": "b"}]}}]}}`)
	patched := getStack(n, "modelstack-sample")
	framework.ExpectEqual(t, "number of components", 3, len(patched.Spec.Components))
	web := patched.Spec.Components[2]
	framework.ExpectEqual(t, "patched component", "web", web.Name)
	framework.ExpectEqual(t, "image", "nginx:1.8", web.Box.Image)
	framework.ExpectEqual(t, "number of variables", 2, len(web.Box.Envs))
	framework.ExpectEqual(t, "ports", []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80)}}, web.Box.Ports)
	framework.ExpectEqual(t, "generation", int64(3), patched.Generation)

	n.Kubectl.Run("delete", "mst", "modelstack-sample")
}

// TestTwoTeamsOwnTwoComponents applies components as two field managers, including the lists of a box with items of both.
func TestTwoTeamsOwnTwoComponents(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	apply := func(manager, components string) {
		t.Helper()
		n.Kubectl.RunWithInput(stackManifest(components), framework.ServerSideApply(manager, nil)...)
	}
	const api = "{name: api, box: {image: 'api:1', ports: [{port: 80}], envs: [{name: A, value: alice}]}}"
	apply("alice", api)
	apply("bob", "{name: web, dependsOn: [api], box: {image: 'web:1'}}, {name: api, box: {envs: [{name: B, value: bob}]}}")

	framework.ExpectEqual(t, "number of components", 2, len(getStack(n, "shop").Spec.Components))
	framework.ExpectEqual(t, "variables of both", []corev1.EnvVar{{Name: "A", Value: "alice"}, {Name: "B", Value: "bob"}}, getComponent(n, "api").Box.Envs)

	complaint := n.Kubectl.RunFailing(stackManifest("{name: api, box: {image: 'api:2'}}"), framework.ServerSideApply("bob", nil)...)
	if !framework.ContainsAll(complaint, []string{`conflict with "alice"`, `.spec.components[name="api"].box.image`}) {
		t.Errorf("kubectl does not say whose the image is:\n%s", complaint)
	}

	apply("alice", strings.Replace(api, "api:1", "api:2", 1))
	framework.ExpectEqual(t, "alice's image", "api:2", getComponent(n, "api").Box.Image)
	framework.ExpectEqual(t, "bob's image", "web:1", getComponent(n, "web").Box.Image)

	// The items that a manager no longer applies are removed, and the items of other managers are kept.
	apply("bob", "{name: web, dependsOn: [api], box: {image: 'web:1'}}")
	framework.ExpectEqual(t, "variables without bob's", []corev1.EnvVar{{Name: "A", Value: "alice"}}, getComponent(n, "api").Box.Envs)
	framework.ExpectEqual(t, "name of the box", "shop-api", getComponent(n, "api").BoxName)
}

func TestBadStacksAreRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for components, want := range map[string]string{
		"{name: web, box: {image: 'a:1', ports: [{port: 0}]}}": "spec.components[0].box.ports[0].port: Invalid value: 0",
		"{name: web, dependsOn: [db], box: {image: 'a:1'}}":    `spec.components[0].dependsOn[0]: Not found: "db"`,
		"{name: a, dependsOn: [b], box: {image: 'a:1', ports: [{port: 80}]}}, {name: b, dependsOn: [a], box: {image: 'a:1', ports: [{port: 80}]}}":                          "a → b → a",
		"{name: web, box: {image: 'a:1'}, external: {host: a.example, port: 1}}":                                                                                            "spec.components[0].external: Forbidden",
		"{name: a, box: {image: 'a:1'}}, {name: web, box: {image: 'a:1', podTemplate: {spec: {containers: [{name: shop-web, volumeMounts: [{name: x, mountPath: /x}]}]}}}}": `spec.components[1].box.podTemplate.spec.containers[0].volumeMounts[0].name: Not found: "x"`,
		"{name: web, box: {image: 'a:1', replica: 1}}": `unknown field "spec.components[0].box.replica"`,
	} {
		if complaint := n.Kubectl.RunFailing(stackManifest(components), "create", "--filename=-"); !strings.Contains(complaint, want) {
			t.Errorf("%s: kubectl does not say %q:\n%s", components, want, complaint)
		}
	}
}

// TestAuthorsOfStacksNeedThePermissionsOfTheirBoxes checks that the author of a stack needs the same permissions as the author of
// its boxes.
func TestAuthorsOfStacksNeedThePermissionsOfTheirBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("create", "rolebinding", "editors", "--clusterrole=modelbox-edit", "--user=jane")
	n.Kubectl.AwaitAllowed("jane", "create modelstacks.model.github.com")
	n.Kubectl.AwaitAllowed("jane", "watch modelstacks.model.github.com")
	n.Kubectl.RunWithInput(stackManifest("{name: web, box: {image: 'a:1', ports: [{port: 80}]}}"), "create", "--as=jane", "--dry-run=server", "--filename=-")
	complaint := n.Kubectl.RunFailing(stackManifest("{name: web, box: {image: 'a:1', serviceAccountName: robot}}, {name: db, external: {host: db.example.com, port: 3306}}"),
		"create", "--as=jane", "--filename=-")
	if !framework.ContainsAll(complaint, []string{
		"spec.components[0].box.serviceAccountName: beyond an ordinary application", `create resource "deployments"`,
		"spec.components[1].external.host: beyond an ordinary application", `create resource "services"`,
	}) {
		t.Errorf("kubectl does not say what jane may not do:\n%s", complaint)
	}
}

func TestUpdatesOfStacksAreWarnedOf(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	const web = "{name: web, box: {image: 'a:1'}}"
	n.Kubectl.RunWithInput(stackManifest(web+", {name: proxy, box: {image: 'b:1'}}"), "apply", "--filename=-")
	run := framework.RunKubectl(n.Kubectl.Command("apply", "--filename=-"), stackManifest(strings.Replace(web, "a:1", "a", 1)))
	if run.Err != nil || !framework.ContainsAll(run.Stderr, []string{"deletes component proxy", `spec.components[0].box.image: "a" has no tag`}) {
		t.Errorf("kubectl says %v:\n%s", run.Err, run.Stderr)
	}
}

func TestExplainDescribesStacks(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	// The cluster fetches the schema some time after the server has started.
	n.Eventually("kubectl explains stacks", func() error {
		run := framework.RunKubectl(n.Kubectl.Command("explain", "modelstacks.spec.components"), "")
		if run.Err != nil {
			return errors.New(run.Stderr)
		}
		text := strings.Join(strings.Fields(run.Stdout), " ")
		if !framework.ContainsAll(text, []string{"KIND: ModelStack", "boxName <string>", "<NAME>_HOST", "dependsOn <[]string>", "external <ModelStackExternal>"}) {
			return fmt.Errorf("it says:\n%s", run.Stdout)
		}
		return nil
	})
}
