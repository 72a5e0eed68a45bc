// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestPatchMergesVariables(t *testing.T) {
	t.Parallel()
	env := func(pairs ...string) []corev1.EnvVar {
		var envs []corev1.EnvVar
		for i := 0; i < len(pairs); i += 2 {
			envs = append(envs, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
		}
		return envs
	}
	n := framework.NewNamespace(t)
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
			n := n.In(t)
			created := n.CreateBox(&modelv1.ModelBox{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"},
				Spec:       modelv1.ModelBoxSpec{Image: framework.Image, Paused: true, Envs: env("A", "1", "B", "1")},
			})
			n.Kubectl.Run("patch", "mb", created.Name, "--type="+test.patchType, "--patch="+test.patch)
			got := n.GetBox(created.Name)
			byName := cmpopts.SortSlices(func(a, b corev1.EnvVar) bool { return a.Name < b.Name })
			if diff := cmp.Diff(test.want, got.Spec.Envs, byName); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
			framework.ExpectEqual(t, "generation", int64(2), got.Generation)
		})
	}
}

func TestEditLabelAndReplaceUpdateBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))

	t.Run("a label is no new generation", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.Run("label", "mb", "web", "team=ours")
		box := n.GetBox("web")
		framework.ExpectEqual(t, "label", "ours", box.Labels["team"])
		framework.ExpectEqual(t, "generation", int64(1), box.Generation)
		framework.ExpectEqual(t, "boxes with the label", []string{"modelbox.model.github.com/web"},
			rowsOf(n.Kubectl.Run("get", "mb", "--selector=team=ours", "--output=name")))
	})
	t.Run("edit", func(t *testing.T) {
		n := n.In(t)
		command := n.Kubectl.Command("edit", "mb", "web")
		command.Env = append(command.Env, "KUBE_EDITOR=sed -i s/nginx:1.7.9/nginx:1.8/")
		if run := framework.RunKubectl(command, ""); run.Err != nil {
			t.Fatal(run.Err, run.Stderr)
		}
		framework.ExpectEqual(t, "image", framework.NewImage, n.GetBox("web").Spec.Image)
	})
	t.Run("set of a field that is read-only changes nothing", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.Run("patch", "mb", "web", "--type=merge", `--patch={"status": {"address": "elsewhere"}, "metadata": {"generation": 99}}`)
		box := n.AwaitReady("web")
		framework.ExpectEqual(t, "address", "web."+n.Name+".svc:80", box.Status.Address)
		framework.ExpectEqual(t, "generation", int64(2), box.Generation)
	})
	t.Run("replace of what is of the past", func(t *testing.T) {
		n := n.In(t)
		read := n.Kubectl.Run("get", "mb", "web", "--output=json")
		n.Kubectl.Run("annotate", "mb", "web", "changed=meanwhile")
		complaint := n.Kubectl.RunFailing(read, "replace", "--filename=-")
		if !strings.Contains(complaint, "Conflict") || !strings.Contains(complaint, "the object has been modified") {
			t.Errorf("want a conflict, got:\n%s", complaint)
		}
		n.Kubectl.RunWithInput(n.Kubectl.Run("get", "mb", "web", "--output=json"), "replace", "--filename=-")
	})
}

func TestDiffShowsWhatApplyWouldChange(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	manifest := framework.Manifest("image: 'nginx:1.7.9', minReadySeconds: 1")

	t.Run("a dry run stores nothing", func(t *testing.T) {
		n := n.In(t)
		said := n.Kubectl.RunWithInput(manifest, "apply", "--dry-run=server", "--filename=-")
		if !strings.Contains(said, "modelbox.model.github.com/web created (server dry run)") {
			t.Error(said)
		}
		n.ExpectNoBox("web")
	})
	t.Run("a dry run refuses what is bad", func(t *testing.T) {
		n.In(t).Kubectl.RunFailing(framework.Manifest("replicas: 2"), "apply", "--dry-run=server", "--filename=-")
	})

	n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
	n.AwaitReady("web")

	t.Run("what is applied already differs in nothing", func(t *testing.T) {
		n := n.In(t)
		framework.ExpectEqual(t, "differences", "", n.Kubectl.RunWithInput(manifest, "diff", "--filename=-"))
		before := n.GetBox("web")
		n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
		framework.ExpectEqual(t, "resourceVersion", before.ResourceVersion, n.GetBox("web").ResourceVersion)
	})
	t.Run("diff shows what apply would change", func(t *testing.T) {
		n := n.In(t)
		command := n.Kubectl.Command("diff", "--filename=-")
		run := framework.RunKubectl(command, framework.Manifest("image: 'nginx:1.8', minReadySeconds: 1"))
		framework.ExpectEqual(t, "exit code, which is greater for errors", 1, command.ProcessState.ExitCode())
		for _, line := range []string{"-  image: nginx:1.7.9", "+  image: nginx:1.8"} {
			if !strings.Contains(run.Stdout, line) {
				t.Errorf("no line %q in:\n%s%s", line, run.Stdout, run.Stderr)
			}
		}
		framework.ExpectEqual(t, "image after the diff", framework.Image, n.GetBox("web").Spec.Image)
	})
}
