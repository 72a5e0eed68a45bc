// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestCommandsOfAStack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(shop, "create", "-f", "-")
	await := func() { run(n, "wait", "mst/shop", "--timeout="+framework.Patience.String()) }
	await()

	_, rendered, _ := strings.Cut(run(n, "render", "mst/shop", "-o", "name"), "\n")
	framework.ExpectEqual(t, "what it becomes beside its record", "modelbox.model.github.com/shop-db\nmodelbox.model.github.com/shop-web\nservice/mail\n", rendered)

	framework.ExpectEqual(t, "what differs", "", run(n, "diff", "mst/shop"))
	of := func(image string) string { return `name: web, dependsOn: [db], box: {image: "` + image + `"` }
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(shop, of(framework.Image), of(framework.NewImage), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	result := modelbox(n, "diff", "-f", file)
	framework.ExpectEqual(t, "exit code of a diff", 1, exitCodeOf(result))
	framework.ExpectEqual(t, "what a file changes", `ModelBox/shop-web
  Deployment/shop-web: Update, rolls 2 pods
    spec.template.spec.containers[name="shop-web"].image: "`+framework.Image+`" -> "`+framework.NewImage+`"
`, result.Stdout)

	framework.ExpectEqual(t, "what a restart says", "modelstack.model.github.com/shop restarted\n", run(n, "restart", "mst/shop"))
	await()
	db, web := n.GetBox("shop-db").Spec.PodTemplate, n.GetBox("shop-web").Spec.PodTemplate
	if db == nil || web == nil || db.Annotations[modelv1.RestartedAtAnnotation] == "" || db.Annotations[modelv1.RestartedAtAnnotation] != web.Annotations[modelv1.RestartedAtAnnotation] {
		t.Errorf("the boxes were restarted by %v and %v", db, web)
	}
	// There is no kubelet. A request to it shows that the boxes were found.
	expectFailure(n, []string{"connection refused"}, "logs", "mst/shop")
	expectFailure(n, []string{"connection refused"}, "exec", "mst/shop/web", "--", "date")
	expectFailure(n, []string{"must be one of db, web"}, "exec", "mst/shop/mail", "--", "date")
}
