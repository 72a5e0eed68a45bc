// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestHistoryAndRollback(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	expectFailure(n, []string{"no last revision to roll back to"}, "rollback", "web")
	run(n, "set", "image", "web", "web="+framework.NewImage)
	run(n, "wait", "web", "--timeout=5m")
	n.Kubectl.Run("annotate", "mb/web", modelv1.ChangeCauseAnnotation+"=a newer one")
	n.Eventually("the change cause is in the history", func() error {
		want := []string{
			"modelbox.model.github.com/web",
			"REVISION AGE IMAGES CHANGED CHANGED-BY CHANGE-CAUSE",
			"1 ? " + framework.Image + " <none> " + framework.Administrator + " <none>",
			"2 ? " + framework.NewImage + " image " + framework.Administrator + " a newer one",
		}
		if diff := cmp.Diff(want, linesOf(run(n, "history", "web"))); diff != "" {
			return errors.New("-want +got:\n" + diff)
		}
		return nil
	})
	detail := `spec.image: "` + framework.Image + `" -> "` + framework.NewImage + `"`
	if text := run(n, "history", "mb/web", "--revision=2"); !framework.ContainsAll(text, []string{"with revision #2", detail, "a newer one"}) {
		t.Errorf("revision 2:\n%s", text)
	}
	expectFailure(n, []string{"unable to find the specified revision 7 of web"}, "history", "web", "--revision=7")
	var history modelv1.ModelBoxHistory
	if err := json.Unmarshal([]byte(run(n, "history", "web", "--output=json")), &history); err != nil || history.Kind != "ModelBoxHistory" || len(history.Revisions) != 2 {
		t.Errorf("the history is %v: %v", history, err)
	}

	expectFailure(n, []string{"use --dry-run=server"}, "rollback", "web", "--dry-run=client")
	result := modelbox(n, "rollback", "web", "--dry-run=server")
	framework.ExpectEqual(t, "a dry run", "modelbox.model.github.com/web rolled back (server dry run)\n", result.Stdout)
	if !strings.Contains(result.Stderr, "Warning: rolls 2 pods") {
		t.Errorf("a dry run warns of nothing: %s", result.Stderr)
	}
	framework.ExpectEqual(t, "image after a dry run", framework.NewImage, n.GetBox("web").Spec.Image)
	framework.ExpectEqual(t, "output", "modelbox.model.github.com/web rolled back\n", run(n, "rollback", "web"))
	framework.ExpectEqual(t, "image", framework.Image, n.GetBox("web").Spec.Image)
	run(n, "wait", "web", "--timeout=5m")
	expectFailure(n, []string{"Unsupported value: 1: supported values: \"2\", \"3\""}, "rollback", "web", "--to-revision=1")
	expectFailure(n, []string{"skipped rollback (current template already matches revision 3)"}, "rollback", "web", "--to-revision=3")
	run(n, "pause", "web")
	expectFailure(n, []string{"cannot roll back a paused modelbox"}, "rollback", "web")
	expectFailure(n, []string{"can't restart paused modelbox"}, "restart", "web")
}

func TestHistoryOfStack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	run(n, "wait", "mst/shop", "--timeout=5m")
	// The modelstack controller writes boxes as the user of the server.
	revision := "1 ? " + framework.Image + " <none> system:apiserver <none>"
	want := []string{
		"modelbox.model.github.com/shop-db", "REVISION AGE IMAGES CHANGED CHANGED-BY CHANGE-CAUSE", revision, "",
		"modelbox.model.github.com/shop-web", "REVISION AGE IMAGES CHANGED CHANGED-BY CHANGE-CAUSE", revision,
	}
	for _, arguments := range [][]string{{"mst/shop"}, {"mst/shop", "mb/shop-db"}, {"mb/shop-db", "mb/shop-web"}} {
		if diff := cmp.Diff(want, linesOf(run(n, append([]string{"history"}, arguments...)...))); diff != "" {
			t.Errorf("the history of %v (-want +got):\n%s", arguments, diff)
		}
	}
	expectFailure(n, []string{"NotFound"}, "history", "mst/nope")
}

func TestRestart(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	framework.ExpectEqual(t, "output", "modelbox.model.github.com/web restarted\n", run(n, "restart", "mb/web"))
	if n.GetBox("web").Spec.PodTemplate.Annotations[modelv1.RestartedAtAnnotation] == "" {
		t.Error("it has not been restarted")
	}
	n.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	expectFailure(n, []string{"modelstacks/shop is a stack: specify its boxes"}, "rollback", "mst/shop")
	expectFailure(n, []string{"must be specified"}, "restart")
	expectFailure(n, []string{"No resources found"}, "restart", "--selector=a=b")
	expectFailure(n, []string{"NotFound"}, "restart", "nope")
}

func TestRender(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	framework.ExpectEqual(t, "names", "deployment.apps/web\nservice/web\n", run(n, "render", "web", "--output=name"))
	var list struct {
		Kind  string
		Items []struct{ Kind string }
	}
	if err := json.Unmarshal([]byte(run(n, "render", "web", "--output=json")), &list); err != nil || list.Kind != "List" || len(list.Items) != 2 {
		t.Errorf("JSON: %+v, %v", list, err)
	}
	file := filepath.Join(t.TempDir(), "boxes.yaml")
	content := `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: new}, spec: {image: "` + framework.Image + `", ports: [{port: 80}]}}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	text := run(n, "render", "--filename="+file)
	if !framework.ContainsAll(text, []string{"kind: Deployment", "\n---\n", "kind: Service", "namespace: " + n.Name}) {
		t.Errorf("what is in the file becomes:\n%s", text)
	}
	expectFailure(n, []string{"NotFound"}, "render", "new")
}
