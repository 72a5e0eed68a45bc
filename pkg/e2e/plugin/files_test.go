// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// manifests are manifests that a user applies together.
const manifests = `apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {password: secret}
---
apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: web}
spec: {image: "nginx:1.7.9"}
---
apiVersion: model.github.com/v1
kind: ModelStack
metadata: {name: shop}
spec:
  components:
  - name: mail
    box: {image: "nginx:1.7.9"}
`

// TestFilesHaveOtherKinds runs commands with files that also have other kinds, as a user without permission to read Secrets.
func TestFilesHaveOtherKinds(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	all := write("all.yaml", manifests)
	secret, box, _ := strings.Cut(manifests, "---\n")
	box, _, _ = strings.Cut(box, "---\n")
	boxes := write("boxes.yaml", secret+"---\n"+box)
	n.Kubectl.Run("apply", "--filename="+all)
	user := newUser(n, "get,list,watch modelboxes.model.github.com,modelstacks.model.github.com")

	run(n, "wait", "--filename="+all, "--as="+user)
	if status := run(n, "status", "--filename="+all, "--as="+user); !framework.ContainsAll(status, []string{"web", "shop"}) {
		t.Errorf("the status lacks web or shop:\n%s", status)
	}
	if rendered := run(n, "render", "--filename="+boxes, "--output=name"); !strings.Contains(rendered, "deployment.apps/web") {
		t.Errorf("the render lacks the Deployment:\n%s", rendered)
	}
	if diff := run(n, "diff", "--filename="+boxes); diff != "" {
		t.Errorf("the box differs from its file:\n%s", diff)
	}

	expectFailure(n, []string{"No boxes or stacks found in the files"}, "render", "--filename="+write("secret.yaml", secret))
	misspelled := write("misspelled.yaml", strings.Replace(box, "spec: {", "spec: {replicsa: 5, ", 1))
	want := []string{"misspelled.yaml", "modelbox", "web", `unknown field "spec.replicsa"`}
	expectFailure(n, want, "render", "--filename="+misspelled)
	result := modelbox(n, "diff", "--filename="+misspelled)
	if code := exitCodeOf(result); code < 2 || !framework.ContainsAll(result.Stderr, want) {
		t.Errorf("kubectl modelbox diff: exit code %d, want %q\n%s", code, want, result.Stderr)
	}
}
