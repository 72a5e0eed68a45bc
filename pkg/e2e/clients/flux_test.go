// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestFluxReconcilesBoxes applies a box and a stack with the library of Flux. Flux must wait until they are ready, find no difference then,
// not even after the changes that users and the server make beside it, correct the fields that it owns, and delete everything.
func TestFluxReconcilesBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	f := newFlux(n)
	expect := func(what, verb, action string) {
		t.Helper()
		want := map[string]string{"ConfigMap/settings": action, "ModelBox/web": action, "ModelStack/shop": action}
		if diff := cmp.Diff(want, f.run(verb)); diff != "" {
			t.Errorf("%s, -want +got:\n%s", what, diff)
		}
	}
	expect("the first time", "apply", "created")
	f.run("wait")
	n.AwaitReady("web")
	n.AwaitReady("shop-api")
	expect("a box that is ready", "apply", "unchanged")

	if _, err := n.Boxes.CreateRestart(n.Ctx, "web", &modelv1.ModelBoxRestart{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Kubectl.Run("scale", "mb", "web", "--replicas=2")
	f.run("wait")
	expect("a box that was restarted and scaled", "diff", "unchanged")

	image := []byte(`{"spec":{"image":"` + framework.NewImage + `"}}`)
	if _, err := n.Boxes.Patch(n.Ctx, "web", types.MergePatchType, image, metav1.PatchOptions{FieldManager: framework.OtherManager}); err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "difference of a box with another image", "configured", f.run("diff")["ModelBox/web"])
	framework.ExpectEqual(t, "change of a box with another image", "configured", f.run("apply")["ModelBox/web"])
	framework.ExpectEqual(t, "image", framework.Image, n.GetBox("web").Spec.Image)
	f.run("wait")

	expect("the last time", "delete", "deleted")
	n.ExpectNoBox("web")
	n.Eventually("the children are gone", n.CheckChildrenGone)
}

// TestFluxStopsWaitingForAStalledBox applies a box whose name is taken.
func TestFluxStopsWaitingForAStalledBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	if _, err := n.Deployments.Create(n.Ctx, framework.ForeignDeployment("web"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f := newFlux(n)
	f.run("apply")
	n.AwaitNotOwned("web")
	complaint := runFailingProgram(n, "flux", "wait", f.manifests)
	if !strings.Contains(complaint, "ModelBox/"+n.Name+"/web status: 'Failed'") {
		t.Errorf("flux does not say that the box has failed:\n%s", complaint)
	}
}

// flux runs the library of Flux with manifests.
type flux struct {
	*framework.Namespace
	manifests string
}

// newFlux returns a flux with the objects of testdata/flux.yaml, in the namespace of the test.
func newFlux(n *framework.Namespace) *flux {
	n.T.Helper()
	objects, err := os.ReadFile(filepath.Join("testdata", "flux.yaml"))
	if err != nil {
		n.T.Fatal(err)
	}
	f := &flux{n, filepath.Join(n.T.TempDir(), "objects.yaml")}
	inNamespace := strings.ReplaceAll(string(objects), "\nmetadata:\n", "\nmetadata:\n  namespace: "+n.Name+"\n")
	if err := os.WriteFile(f.manifests, []byte(inNamespace), 0o600); err != nil {
		n.T.Fatal(err)
	}
	return f
}

// run runs a verb, and returns what it did to each object, by kind and name. "wait" does nothing.
func (f *flux) run(verb string) map[string]string {
	f.T.Helper()
	actions := map[string]string{}
	for line := range strings.Lines(runProgram(f.Namespace, "flux", verb, f.manifests)) {
		subject, action, _ := strings.Cut(strings.TrimSpace(line), " ")
		kind, name, _ := strings.Cut(subject, "/"+f.Name+"/")
		actions[kind+"/"+name] = action
	}
	return actions
}
