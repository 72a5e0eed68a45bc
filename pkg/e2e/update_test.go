// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	env := func(pairs ...string) []corev1.EnvVar {
		var envs []corev1.EnvVar
		for i := 0; i < len(pairs); i += 2 {
			envs = append(envs, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
		}
		return envs
	}
	n := newNamespace(t)
	for _, test := range []struct {
		name, patchType, patch string
		want                   []corev1.EnvVar
	}{
		{"a strategic patch merges variables by name", "strategic", `{"spec": {"envs": [{"name": "B", "value": "2"}, {"name": "C", "value": "3"}]}}`, env("A", "1", "B", "2", "C", "3")},
		{"a strategic patch deletes a variable by name", "strategic", `{"spec": {"envs": [{"name": "A", "$patch": "delete"}]}}`, env("B", "1")},
		{"a merge patch replaces all variables", "merge", `{"spec": {"envs": [{"name": "B", "value": "2"}]}}`, env("B", "2")},
		{"a JSON patch changes the one it points to", "json", `[{"op": "replace", "path": "/spec/envs/1/value", "value": "2"}]`, env("A", "1", "B", "2")},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := n.in(t)
			created := n.create(&modelv1.ModelBox{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
				Spec:       modelv1.ModelBoxSpec{Image: image, Paused: true, Envs: env("A", "1", "B", "1")},
			})
			n.kubectl("patch", "mb", created.Name, "--type="+test.patchType, "--patch="+test.patch)
			got := n.box(created.Name)
			byName := cmpopts.SortSlices(func(a, b corev1.EnvVar) bool { return a.Name < b.Name })
			if diff := cmp.Diff(test.want, got.Spec.Envs, byName); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
			expectEqual(t, "generation", int64(2), got.Generation)
		})
	}
}

func TestUpdates(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))

	t.Run("a label is no new generation", func(t *testing.T) {
		n := n.in(t)
		n.kubectl("label", "mb", "web", "team=ours")
		box := n.box("web")
		expectEqual(t, "label", "ours", box.Labels["team"])
		expectEqual(t, "generation", int64(1), box.Generation)
		expectEqual(t, "boxes with the label", []string{"modelbox.model.github.com/web"},
			rowsOf(n.kubectl("get", "mb", "--selector=team=ours", "--output=name")))
	})
	t.Run("edit", func(t *testing.T) {
		n := n.in(t)
		command := n.kubectlCommand("edit", "mb", "web")
		command.Env = append(command.Env, "KUBE_EDITOR=sed -i s/nginx:1.7.9/nginx:1.8/")
		if run := runKubectl(command, ""); run.err != nil {
			t.Fatal(run.err, run.stderr)
		}
		expectEqual(t, "image", newImage, n.box("web").Spec.Image)
	})
	t.Run("set of a field that is read-only changes nothing", func(t *testing.T) {
		n := n.in(t)
		n.kubectl("patch", "mb", "web", "--type=merge", `--patch={"status": {"address": "elsewhere"}, "metadata": {"generation": 99}}`)
		box := n.awaitReady("web")
		expectEqual(t, "address", "web."+n.name+".svc:80", box.Status.Address)
		expectEqual(t, "generation", int64(2), box.Generation)
	})
	t.Run("replace of what is of the past", func(t *testing.T) {
		n := n.in(t)
		read := n.kubectl("get", "mb", "web", "--output=json")
		n.kubectl("annotate", "mb", "web", "changed=meanwhile")
		complaint := n.kubectlRefused(read, "replace", "--filename=-")
		if !strings.Contains(complaint, "Conflict") || !strings.Contains(complaint, "the object has been modified") {
			t.Errorf("want a conflict, got:\n%s", complaint)
		}
		n.kubectlWith(n.kubectl("get", "mb", "web", "--output=json"), "replace", "--filename=-")
	})
}

func TestDiffAndDryRun(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	manifest := boxManifest("image: 'nginx:1.7.9', minReadySeconds: 1")

	t.Run("a dry run stores nothing", func(t *testing.T) {
		n := n.in(t)
		said := n.kubectlWith(manifest, "apply", "--dry-run=server", "--filename=-")
		if !strings.Contains(said, "modelbox.model.github.com/web created (server dry run)") {
			t.Error(said)
		}
		expectNoBox(n, "web")
	})
	t.Run("a dry run refuses what is bad", func(t *testing.T) {
		n.in(t).kubectlRefused(boxManifest("replicas: 2"), "apply", "--dry-run=server", "--filename=-")
	})

	n.kubectlWith(manifest, "apply", "--filename=-")
	n.awaitReady("web")

	t.Run("what is applied already differs in nothing", func(t *testing.T) {
		n := n.in(t)
		expectEqual(t, "differences", "", n.kubectlWith(manifest, "diff", "--filename=-"))
		before := n.box("web")
		n.kubectlWith(manifest, "apply", "--filename=-")
		expectEqual(t, "resourceVersion", before.ResourceVersion, n.box("web").ResourceVersion)
	})
	t.Run("diff shows what apply would change", func(t *testing.T) {
		n := n.in(t)
		command := n.kubectlCommand("diff", "--filename=-")
		run := runKubectl(command, boxManifest("image: 'nginx:1.8', minReadySeconds: 1"))
		expectEqual(t, "exit code, which is greater for errors", 1, command.ProcessState.ExitCode())
		for _, line := range []string{"-  image: nginx:1.7.9", "+  image: nginx:1.8"} {
			if !strings.Contains(run.stdout, line) {
				t.Errorf("no line %q in:\n%s%s", line, run.stdout, run.stderr)
			}
		}
		expectEqual(t, "image after the diff", image, n.box("web").Spec.Image)
	})
}
