// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// TestRenderMatchesTheChildren compares the hash of each rendered child with the hash of the live child, and applies all of them
// again without a change.
func TestRenderMatchesTheChildren(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	rendered, err := n.Boxes.GetRender(n.Ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deployment := n.GetDeployment("web")
	if len(rendered.Items) != 2 {
		t.Fatalf("it has %d children, want 2", len(rendered.Items))
	}
	for i, hash := range []string{render.Hash(deployment), render.Hash(n.GetService("web"))} {
		child := &unstructured.Unstructured{}
		if err := child.UnmarshalJSON(rendered.Items[i].Raw); err != nil {
			t.Fatal(err)
		}
		if hash == "" || render.Hash(child) != hash {
			t.Errorf("%s has the hash %q, the live one %q", child.GetKind(), render.Hash(child), hash)
		}
		if err := applyChild(n, child); err != nil {
			t.Error(err)
		}
	}
	if now := n.GetDeployment("web"); now.ResourceVersion != deployment.ResourceVersion {
		t.Errorf("applying it again changed the Deployment: %s", cmp.Diff(deployment, now))
	}
}

// TestRenderWithKubectl reads the render of a stored box as YAML, and the render of a box in the request.
func TestRenderWithKubectl(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	path := fmt.Sprintf("/apis/model.github.com/v1/namespaces/%s/modelboxes/web/render", n.Name)
	box := framework.NewBox("web")
	box.APIVersion, box.Kind = modelv1.SchemeGroupVersion.String(), "ModelBox"
	data, err := json.Marshal(box)
	if err != nil {
		t.Fatal(err)
	}
	sent := framework.RunKubectl(n.Kubectl.Command("create", "--raw", path, "--filename=-"), string(data))
	var list metav1.List
	if err := yaml.Unmarshal([]byte(sent.Stdout), &list); err != nil {
		t.Fatalf("%v: %s %s", err, sent.Stdout, sent.Stderr)
	}
	if list.APIVersion != "v1" || list.Kind != "List" || len(list.Items) != 2 {
		t.Errorf("got %s", sent.Stdout)
	}
	if _, err := n.Boxes.Get(n.Ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the box that was sent: %v", err)
	}
	box.Spec.Image = ""
	if _, err := n.Boxes.CreateRender(n.Ctx, "web", box, metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.image") {
		t.Errorf("an invalid box: %v", err)
	}
}

// TestPermissionsForRender checks that a user with only the permission for the subresource render can use it, and that a user with
// all other permissions on boxes cannot.
func TestPermissionsForRender(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	only, allElse := n.SubresourceUsers("render", "get,create")

	if _, err := only.GetRender(n.Ctx, "web", metav1.GetOptions{}); err != nil {
		t.Errorf("who has only it: %v", err)
	}
	if _, err := only.CreateRender(n.Ctx, "other", framework.NewBox("other"), metav1.CreateOptions{}); err != nil {
		t.Errorf("who has only it: %v", err)
	}
	if _, err := only.Get(n.Ctx, "web", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has only it reads the box: %v", err)
	}
	if _, err := allElse.Get(n.Ctx, "web", metav1.GetOptions{}); err != nil {
		t.Errorf("who has all else reads the box: %v", err)
	}
	if _, err := allElse.GetRender(n.Ctx, "web", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has all else: %v", err)
	}
	if _, err := allElse.CreateRender(n.Ctx, "web", framework.NewBox("web"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has all else: %v", err)
	}
}
