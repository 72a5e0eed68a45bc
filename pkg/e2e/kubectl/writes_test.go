// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestClientSideApplyRemovesOnlyWhatItApplied applies without --server-side. Only the fields of the last apply are removed.
func TestClientSideApplyRemovesOnlyWhatItApplied(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(framework.Manifest(`image: 'nginx:1.7.9', paused: true, command: [nginx], envs: [{name: A, value: "1"}, {name: B, value: "1"}]`),
		"apply", "--filename=-")
	n.Kubectl.Run("patch", "mb", "web", `--patch={"spec": {"envs": [{"name": "C", "value": "1"}], "args": ["-v"]}}`)

	n.Kubectl.RunWithInput(framework.Manifest(`image: 'nginx:1.8', paused: true, envs: [{name: B, value: "2"}]`), "apply", "--filename=-")
	spec := n.GetBox("web").Spec
	framework.ExpectEqual(t, "image", framework.NewImage, spec.Image)
	framework.ExpectEqual(t, "command, which was taken back", 0, len(spec.Command))
	framework.ExpectEqual(t, "args, which another client set", []string{"-v"}, spec.Args)
	slices.SortFunc(spec.Envs, func(a, b corev1.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	framework.ExpectEqual(t, "envs", []corev1.EnvVar{{Name: "B", Value: "2"}, {Name: "C", Value: "1"}}, spec.Envs)
}

// TestApplyPrunesUnlistedBoxes applies two boxes and then one of them, in each of the ways in which kubectl deletes the
// other.
func TestApplyPrunesUnlistedBoxes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, variable string
		flags          []string
	}{
		{"by label", "", []string{"--selector=app=shop", "--prune-allowlist=model.github.com/v1/ModelBox"}},
		{"by set", "KUBECTL_APPLYSET=true", []string{"--applyset=shop"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.Kubectl.RunWithInput(pausedBoxes("created"), "create", "--filename=-") // it has the label, but not the annotation of apply
			apply := func(boxes ...string) string {
				command := n.Kubectl.Command(append([]string{"apply", "--prune", "--filename=-"}, test.flags...)...)
				command.Env = append(command.Env, test.variable)
				run := framework.RunKubectl(command, pausedBoxes(boxes...))
				if run.Err != nil {
					t.Fatal(run.Err, run.Stderr)
				}
				return run.Stdout
			}
			apply("stays", "goes")
			if said := apply("stays"); !strings.Contains(said, "modelbox.model.github.com/goes pruned") {
				t.Error(said)
			}
			n.Kubectl.Run("wait", "modelbox/goes", "--for=delete", "--timeout="+framework.Patience.String())
			framework.ExpectEqual(t, "boxes", boxNames("created", "stays"), rowsOf(n.Kubectl.Run("get", "mb", "--output=name")))
		})
	}
}

func TestForcedReplaceCreatesNewBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	old := n.CreateReadyBox(framework.NewBox("web"))
	n.Kubectl.RunWithInput(framework.Manifest("image: 'nginx:1.8', minReadySeconds: 1"), "replace", "--force", "--filename=-")
	box := n.AwaitReady("web")
	if box.UID == old.UID {
		t.Error("it is the old box")
	}
	framework.ExpectEqual(t, "image", framework.NewImage, n.GetDeployment("web").Spec.Template.Spec.Containers[0].Image)
}

// TestPatchOfSubresourceChangesOnlyIt patches fields of the subresource and other fields. A patch of other fields has no effect.
func TestPatchOfSubresourceChangesOnlyIt(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, test := range []struct {
		subresource, patchType, patch, show, want string
	}{
		{"scale", "json", `[{"op": "replace", "path": "/spec/replicas", "value": 3}]`, "{.kind} {.spec.replicas}", "Scale 3"},
		{"scale", "merge", `{"spec": {"replicas": 3}, "status": {"replicas": 9}}`, "{.spec.replicas} {.status.replicas}", "3 0"},
		{"scale", "strategic", `{"spec": {"replicas": 3}}`, "{.kind} {.spec.replicas}", "Scale 3"},
		{"status", "json", `[{"op": "add", "path": "/status/address", "value": "here"}]`, "{.kind} {.status.address}", "ModelBox here"},
		{"status", "merge", `{"status": {"address": "here"}, "spec": {"image": "other"}}`, "{.status.address} {.spec.image}", "here " + framework.Image},
		{
			"status", "strategic",
			`{"status": {"conditions": [{"type": "Mine", "status": "True", "reason": "Mine", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`,
			`{.status.conditions[?(@.type=="Mine")].reason} {.status.conditions[?(@.type=="Ready")].status}`, "Mine False",
		},
	} {
		t.Run(test.subresource+", "+test.patchType, func(t *testing.T) {
			n := n.In(t)
			box := &modelv1.ModelBox{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
				Spec:       modelv1.ModelBoxSpec{Image: framework.Image, Paused: true},
			}
			box = n.CreateBox(box)
			n.AwaitPaused(box.Name)
			shown := n.Kubectl.Run("patch", "mb", box.Name, "--subresource="+test.subresource, "--type="+test.patchType,
				"--patch="+test.patch, "--output=jsonpath="+test.show)
			framework.ExpectEqual(t, "what the server answers", test.want, shown)
		})
	}
}

// TestDryRunStoresNothing runs every verb that writes with a dry run.
func TestDryRunStoresNothing(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(pausedBoxes("web"), "apply", "--filename=-")
	n.AwaitPaused("web")
	before := n.GetBox("web")
	web := strings.ReplaceAll(pausedBoxes("web"), framework.Image, framework.NewImage)
	for _, test := range []struct {
		stdin, arguments, show, want string
	}{
		// Clients that wait for boxes must see a condition from the beginning.
		{pausedBoxes("new"), "create --filename=-", `{.spec.rollingUpdate} {.status.conditions[?(@.type=="Ready")].status}`, "25% Unknown"},
		{web, "apply --filename=-", "{.spec.image} {.metadata.generation}", framework.NewImage + " 2"},
		{web, "apply --server-side --force-conflicts --filename=-", "{.spec.image} {.metadata.generation}", framework.NewImage + " 2"},
		{web, "replace --filename=-", "{.spec.image} {.metadata.generation}", framework.NewImage + " 2"},
		{"", `patch mb web --type=merge --patch={"spec":{"image":"nginx:1.8"}}`, "{.spec.image} {.metadata.generation}", framework.NewImage + " 2"},
		{"", `patch mb web --subresource=scale --type=merge --patch={"spec":{"replicas":3}}`, "{.kind} {.spec.replicas}", "Scale 3"},
		{"", "label mb web team=ours", "{.metadata.labels.team}", "ours"},
		{"", "annotate mb web team=ours", "{.metadata.annotations.team}", "ours"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			n := n.In(t)
			arguments := append(strings.Fields(test.arguments), "--dry-run=server", "--output=jsonpath="+test.show)
			framework.ExpectEqual(t, "what would be", test.want, n.Kubectl.RunWithInput(test.stdin, arguments...))
		})
	}
	// The output of these does not show the result.
	for _, test := range []struct{ arguments, want string }{
		{"scale mb web --replicas=3", "modelbox.model.github.com/web scaled (server dry run)\n"},
		{"delete mb --all", `modelbox.model.github.com "web" deleted from ` + n.Name + " namespace (server dry run)\n"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			said := n.In(t).Kubectl.Run(append(strings.Fields(test.arguments), "--dry-run=server")...)
			framework.ExpectEqual(t, "what kubectl says", test.want, said)
		})
	}
	framework.ExpectEqual(t, "boxes afterwards", boxNames("web"), rowsOf(n.Kubectl.Run("get", "mb", "--output=name")))
	framework.ExpectEqual(t, "the box afterwards", before, n.GetBox("web"))
}
