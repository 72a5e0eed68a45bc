// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// shopManifest is the manifest of a stack of a database and its dependants.
func shopManifest(dbImage, webImage string) string {
	return fmt.Sprintf(`{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {components: [
		{name: db, boxName: db, box: {image: '%s', ports: [{port: 80}]}},
		{name: web, boxName: web, dependsOn: [db], box: {image: '%s', envs: [{name: MODE, value: plain}]}}]}}`, dbImage, webImage)
}

func awaitShop(n *framework.Namespace) {
	n.T.Helper()
	n.Kubectl.Run("wait", "mst/shop", "--for=condition=Ready", "--timeout="+framework.Patience.String())
}

func expectImages(n *framework.Namespace, db, web string) {
	n.T.Helper()
	framework.ExpectEqual(n.T, "image of db", db, n.GetBox("db").Spec.Image)
	framework.ExpectEqual(n.T, "image of web", web, n.GetBox("web").Spec.Image)
}

// TestStackIsAppliedPatchedAndDeleted applies, patches and deletes a stack. Package stack tests the deletion of its boxes.
func TestStackIsAppliedPatchedAndDeleted(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	manifest := shopManifest(framework.Image, framework.Image)
	n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
	awaitShop(n)
	expectImages(n, framework.Image, framework.Image)

	t.Run("get", func(t *testing.T) {
		n := n.In(t)
		if diff := cmp.Diff([]string{"NAME READY STATUS WAITING FOR AGE", "shop 2/2 Ready <none> <age>"}, rowsOf(n.Kubectl.Run("get", "mst"))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		framework.ExpectEqual(t, "stacks that are ready", "modelstack.model.github.com/shop\n",
			n.Kubectl.Run("get", "mst", "--field-selector=status.ready=true", "--output=name"))
	})
	t.Run("diff", func(t *testing.T) {
		n := n.In(t)
		framework.ExpectEqual(t, "differences of what is applied", "", n.Kubectl.RunWithInput(manifest, "diff", "--filename=-"))
		command := n.Kubectl.Command("diff", "--filename=-")
		run := framework.RunKubectl(command, shopManifest(framework.Image, framework.NewImage))
		framework.ExpectEqual(t, "exit code, which is greater for errors", 1, command.ProcessState.ExitCode())
		for _, line := range []string{"-      image: " + framework.Image, "+      image: " + framework.NewImage} {
			if !strings.Contains(run.Stdout, line) {
				t.Errorf("no line %q in:\n%s%s", line, run.Stdout, run.Stderr)
			}
		}
	})
	t.Run("a patch of one component", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.Run("patch", "mst", "shop", `--patch={"spec": {"components": [{"name": "web", "box": {"image": "`+framework.NewImage+`", "envs": [{"name": "LEVEL", "value": "1"}]}}]}}`)
		awaitShop(n)
		expectImages(n, framework.Image, framework.NewImage)
		framework.ExpectEqual(t, "number of variables of web, three of which are about db", 5, len(n.GetBox("web").Spec.Envs))
	})
	t.Run("apply", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.RunWithInput(shopManifest(framework.NewImage, framework.NewImage), "apply", "--filename=-")
		awaitShop(n)
		expectImages(n, framework.NewImage, framework.NewImage)
	})
	t.Run("delete", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.Run("delete", "mst", "shop", "--timeout="+framework.Patience.String())
		n.ExpectNoBox("db")
		n.ExpectNoBox("web")
	})
}

// TestTwoTeamsApplyComponentsOfOneStack applies components of a stack as two field managers.
func TestTwoTeamsApplyComponentsOfOneStack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	apply := func(team, component, image string) {
		t.Helper()
		n.Kubectl.RunWithInput(fmt.Sprintf(`{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {components: [
			{name: %[1]s, boxName: %[1]s, box: {image: '%[2]s'}}]}}`, component, image), framework.ServerSideApply(team, nil)...)
	}
	apply("data", "db", framework.Image)
	apply("front", "web", framework.Image)
	apply("data", "db", framework.NewImage)
	awaitShop(n)
	expectImages(n, framework.NewImage, framework.Image)
	complaint := n.Kubectl.RunFailing(`{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {components: [
		{name: db, box: {image: 'nginx:1.9'}}]}}`, framework.ServerSideApply("front", nil)...)
	if !strings.Contains(complaint, `conflict with "data": .spec.components[name="db"].box.image`) {
		t.Error(complaint)
	}
}
