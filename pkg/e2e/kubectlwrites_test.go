// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestKubectlCreatesOnce(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.kubectlWith(pausedBoxes("web"), "create", "--filename=-")
	if complaint := n.kubectlRefused(pausedBoxes("web"), "create", "--filename=-"); !strings.Contains(complaint, "AlreadyExists") {
		t.Error(complaint)
	}
}

// TestClientSideApply applies without --server-side, which takes back what the last apply gave and nothing else.
func TestClientSideApply(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.kubectlWith(boxManifest(`image: 'nginx:1.7.9', paused: true, command: [nginx], envs: [{name: A, value: "1"}, {name: B, value: "1"}]`),
		"apply", "--filename=-")
	n.kubectl("patch", "mb", "web", `--patch={"spec": {"envs": [{"name": "C", "value": "1"}], "args": ["-v"]}}`)

	n.kubectlWith(boxManifest(`image: 'nginx:1.8', paused: true, envs: [{name: B, value: "2"}]`), "apply", "--filename=-")
	spec := n.box("web").Spec
	expectEqual(t, "image", newImage, spec.Image)
	expectEqual(t, "command, which was taken back", 0, len(spec.Command))
	expectEqual(t, "args, which somebody else gave", []string{"-v"}, spec.Args)
	slices.SortFunc(spec.Envs, func(a, b corev1.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	expectEqual(t, "envs", []corev1.EnvVar{{Name: "B", Value: "2"}, {Name: "C", Value: "1"}}, spec.Envs)
}

// TestApplyPrunes applies two boxes and then one of them, in each of the ways in which kubectl deletes the other.
func TestApplyPrunes(t *testing.T) {
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
			n := newNamespace(t)
			n.kubectlWith(pausedBoxes("created"), "create", "--filename=-") // has the label, but was not applied
			apply := func(boxes ...string) string {
				command := n.kubectlCommand(append([]string{"apply", "--prune", "--filename=-"}, test.flags...)...)
				command.Env = append(command.Env, test.variable)
				run := runKubectl(command, pausedBoxes(boxes...))
				if run.err != nil {
					t.Fatal(run.err, run.stderr)
				}
				return run.stdout
			}
			apply("stays", "goes")
			if said := apply("stays"); !strings.Contains(said, "modelbox.model.github.com/goes pruned") {
				t.Error(said)
			}
			n.kubectl("wait", "modelbox/goes", "--for=delete", "--timeout="+patience.String())
			expectEqual(t, "boxes", boxNames("created", "stays"), rowsOf(n.kubectl("get", "mb", "--output=name")))
		})
	}
}

func TestReplaceByForce(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	old := n.createReady(newBox("web"))
	n.kubectlWith(boxManifest("image: 'nginx:1.8', minReadySeconds: 1"), "replace", "--force", "--filename=-")
	box := n.awaitReady("web")
	if box.UID == old.UID {
		t.Error("it is the old box")
	}
	expectEqual(t, "image", newImage, n.deployment("web").Spec.Template.Spec.Containers[0].Image)
}

// TestPatchOfSubresource patches what concerns the subresource, and what does not, which changes nothing.
func TestPatchOfSubresource(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	for _, test := range []struct {
		subresource, patchType, patch, show, want string
	}{
		{"scale", "json", `[{"op": "replace", "path": "/spec/replicas", "value": 3}]`, "{.kind} {.spec.replicas}", "Scale 3"},
		{"scale", "merge", `{"spec": {"replicas": 3}, "status": {"replicas": 9}}`, "{.spec.replicas} {.status.replicas}", "3 0"},
		{"scale", "strategic", `{"spec": {"replicas": 3}}`, "{.kind} {.spec.replicas}", "Scale 3"},
		{"status", "json", `[{"op": "add", "path": "/status/address", "value": "here"}]`, "{.kind} {.status.address}", "ModelBox here"},
		{"status", "merge", `{"status": {"address": "here"}, "spec": {"image": "other"}}`, "{.status.address} {.spec.image}", "here " + image},
		{
			"status", "strategic",
			`{"status": {"conditions": [{"type": "Mine", "status": "True", "reason": "Mine", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`,
			`{.status.conditions[?(@.type=="Mine")].reason} {.status.conditions[?(@.type=="Ready")].status}`, "Mine False",
		},
	} {
		t.Run(test.subresource+", "+test.patchType, func(t *testing.T) {
			n := n.in(t)
			box := &modelv1.ModelBox{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
				Spec:       modelv1.ModelBoxSpec{Image: image, Paused: true},
			}
			box = n.create(box)
			n.awaitPaused(box.Name)
			shown := n.kubectl("patch", "mb", box.Name, "--subresource="+test.subresource, "--type="+test.patchType,
				"--patch="+test.patch, "--output=jsonpath="+test.show)
			expectEqual(t, "what the server answers", test.want, shown)
		})
	}
}

// TestLabelsAndAnnotations sets, replaces and removes them.
func TestLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.create(newBox("web", pause))
	for _, verb := range []string{"label", "annotate"} {
		n.kubectl(verb, "mb", "web", "team=ours", "tier=front")
		n.kubectlRefused("", verb, "mb", "web", "team=theirs")
		n.kubectl(verb, "mb", "web", "--overwrite", "team=theirs", "tier-")
	}
	box := n.box("web")
	expectEqual(t, "labels", map[string]string{"team": "theirs"}, box.Labels)
	expectEqual(t, "annotations", map[string]string{"team": "theirs"}, box.Annotations)
	expectEqual(t, "generation", int64(1), box.Generation)
}

// TestDryRuns has every verb that writes pretend.
func TestDryRuns(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.kubectlWith(pausedBoxes("web"), "apply", "--filename=-")
	n.awaitPaused("web")
	before := n.box("web")
	web := strings.ReplaceAll(pausedBoxes("web"), image, newImage)
	for _, test := range []struct {
		stdin, arguments, show, want string
	}{
		// What waits for boxes has to see from the first moment on that there is something to wait for.
		{pausedBoxes("new"), "create --filename=-", `{.spec.rollingUpdate} {.status.conditions[?(@.type=="Ready")].status}`, "25% Unknown"},
		{web, "apply --filename=-", "{.spec.image} {.metadata.generation}", newImage + " 2"},
		{web, "apply --server-side --force-conflicts --filename=-", "{.spec.image} {.metadata.generation}", newImage + " 2"},
		{web, "replace --filename=-", "{.spec.image} {.metadata.generation}", newImage + " 2"},
		{"", `patch mb web --type=merge --patch={"spec":{"image":"nginx:1.8"}}`, "{.spec.image} {.metadata.generation}", newImage + " 2"},
		{"", `patch mb web --subresource=scale --type=merge --patch={"spec":{"replicas":3}}`, "{.kind} {.spec.replicas}", "Scale 3"},
		{"", "label mb web team=ours", "{.metadata.labels.team}", "ours"},
		{"", "annotate mb web team=ours", "{.metadata.annotations.team}", "ours"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			n := n.in(t)
			arguments := append(strings.Fields(test.arguments), "--dry-run=server", "--output=jsonpath="+test.show)
			expectEqual(t, "what would be", test.want, n.kubectlWith(test.stdin, arguments...))
		})
	}
	// These show nothing of what would be.
	for _, test := range []struct{ arguments, want string }{
		{"scale mb web --replicas=3", "modelbox.model.github.com/web scaled (server dry run)\n"},
		{"delete mb --all", `modelbox.model.github.com "web" deleted from ` + n.name + " namespace (server dry run)\n"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			said := n.in(t).kubectl(append(strings.Fields(test.arguments), "--dry-run=server")...)
			expectEqual(t, "what kubectl says", test.want, said)
		})
	}
	expectEqual(t, "boxes afterwards", boxNames("web"), rowsOf(n.kubectl("get", "mb", "--output=name")))
	expectEqual(t, "the box afterwards", before, n.box("web"))
}

// TestKubectlDeletesMany has boxes named in each of the ways that kubectl has.
func TestKubectlDeletesMany(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, stdin string
		arguments   []string
		left        []string
	}{
		{"by names", "", []string{"mb", "a", "b"}, boxNames("c", "d")},
		{"by label", "", []string{"mb", "--selector=team=ours"}, boxNames("c", "d")},
		{"by field", "", []string{"mb", "--field-selector=metadata.name!=a"}, boxNames("a")},
		{"by file", pausedBoxes("a", "d"), []string{"--filename=-"}, boxNames("b", "c")},
		{"one that is not there", pausedBoxes("a", "nobody"), []string{"--filename=-", "--ignore-not-found"}, boxNames("b", "c", "d")},
		{"all", "", []string{"mb", "--all"}, []string{""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			n.kubectlWith(pausedBoxes("a", "b", "c", "d"), "create", "--filename=-")
			n.kubectl("label", "mb", "a", "b", "team=ours")
			n.kubectlWith(test.stdin, append([]string{"delete", "--timeout=" + patience.String()}, test.arguments...)...)
			expectEqual(t, "boxes left", test.left, rowsOf(n.kubectl("get", "mb", "--output=name")))
		})
	}
}
