// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// exitCodeOf returns the exit code of a command.
func exitCodeOf(result framework.KubectlResult) int {
	if failed, ok := result.Err.(*exec.ExitError); ok {
		return failed.ExitCode()
	}
	return 0
}

func TestDiff(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	changed := framework.NewBox("web", framework.WithReplicas(2), framework.WithImage(framework.NewImage))
	changed.SetGroupVersionKind(modelv1.SchemeGroupVersion.WithKind("ModelBox"))
	data, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "web.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		arguments []string
		code      int
		want      string
		words     []string
	}{
		{[]string{"web"}, 0, "", nil},
		{[]string{"mb"}, 0, "", nil},
		{[]string{"-f", file}, 1, `ModelBox/web
  Deployment/web: Update, rolls 2 pods
    spec.template.spec.containers[name="web"].image: "` + framework.Image + `" -> "` + framework.NewImage + `"
`, []string{"rolls 2 pods"}},
		{[]string{"-f", file, "--output=name"}, 1, "modelboxdiff.model.github.com/web\n", nil},
		{nil, 2, "", []string{"must be specified"}},
		{[]string{"nope"}, 2, "", []string{"NotFound", `"nope" not found`}},
	} {
		result := modelbox(n, append([]string{"diff"}, row.arguments...)...)
		if code := exitCodeOf(result); code != row.code {
			t.Errorf("kubectl modelbox diff %q: exit code %d, want %d:\n%s", row.arguments, code, row.code, result.Stderr)
		}
		if diff := cmp.Diff(row.want, result.Stdout); diff != "" {
			t.Errorf("kubectl modelbox diff %q: -want +got:\n%s", row.arguments, diff)
		}
		if !framework.ContainsAll(result.Stderr, row.words) {
			t.Errorf("kubectl modelbox diff %q: no %q in:\n%s", row.arguments, row.words, result.Stderr)
		}
	}
	framework.ExpectEqual(t, "image of the stored box", framework.Image, n.GetBox("web").Spec.Image)
}
