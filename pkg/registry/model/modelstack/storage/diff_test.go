// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	storage := newStorageWithBoxes(t)
	stack := create(t, storage, shop())
	createBox := func(name string, owner *model.ModelStack) string {
		box, err := helper.ComponentBox(stack, &model.ModelStackComponent{Name: name, BoxName: name, Box: &model.ModelBoxSpec{Image: "old:1"}})
		if err != nil {
			t.Fatal(err)
		}
		if owner != nil {
			box.Labels = map[string]string{modelv1.StackLabel: owner.Name}
			box.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, modelstackrender.Kind)}
		}
		created, err := storage.Diff.boxes.Create(inDefault(t), box, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(created.(*model.ModelBox).UID)
	}
	db := createBox("db", stack)
	createBox("cache", stack)
	createBox("queue", nil)
	lines := func(list runtime.Object, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, diff := range items(t, list) {
			children, _, _ := unstructured.NestedSlice(diff.Object, "children")
			child := children[0].(map[string]any)
			text, _ := child["message"].(string)
			effect, _ := child["effect"].(string)
			lines = append(lines, strings.TrimSpace(diff.GetKind()+"/"+diff.GetName()+": "+child["action"].(string)+" "+child["kind"].(string)+" "+effect+text))
		}
		return lines
	}
	const cache = "ModelBoxDiff/cache: Delete ModelBox deletes the box and its children"
	want := []string{"ModelBoxDiff/db: Update Deployment mysql:8.0 of " + db, "ModelBoxDiff/web: Update Deployment nginx:1.7.9 of", cache}
	if diff := cmp.Diff(want, lines(storage.Diff.Get(inDefault(t), "shop", &metav1.GetOptions{}))); diff != "" {
		t.Errorf("of the stored stack, -want +got:\n%s", diff)
	}
	sent := shop()
	sent.Spec.Components[0].Box.Image = "mysql:9"
	sent.Spec.Components = append(sent.Spec.Components, model.ModelStackComponent{Name: "queue", BoxName: "queue", Box: &model.ModelBoxSpec{Image: "queue:1"}})
	want = []string{"ModelBoxDiff/db: Update Deployment mysql:9 of " + db, want[1], "ModelBoxDiff/queue: Refuse ModelBox the stack does not control it", cache}
	if diff := cmp.Diff(want, lines(storage.Diff.Create(inDefault(t), "shop", sent, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}))); diff != "" {
		t.Errorf("of a stack that is sent, -want +got:\n%s", diff)
	}
	sent.Name, sent.ResourceVersion, sent.Spec.Components = "mine", "", sent.Spec.Components[1:2]
	if diff := cmp.Diff(want[1:2], lines(storage.Diff.Create(inDefault(t), "mine", sent, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}))); diff != "" {
		t.Errorf("of a stack that there is not yet, -want +got:\n%s", diff)
	}
}

func TestDiffWithoutTheCluster(t *testing.T) {
	t.Parallel()
	storage := newStorageWithBoxes(t)
	stack := shop()
	stack.Spec.Components[1].Box.Image = unreadableImage
	create(t, storage, stack)
	_, err := storage.Diff.Get(inDefault(t), "shop", &metav1.GetOptions{})
	want := "comparing the box of component web: asking the cluster: the cluster is unavailable"
	if status := responsewriters.ErrorToAPIStatus(err); status.Code != http.StatusServiceUnavailable || status.Message != want {
		t.Errorf("got %d %q, want %d %q", status.Code, status.Message, http.StatusServiceUnavailable, want)
	}
}
