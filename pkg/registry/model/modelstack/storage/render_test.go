// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestRender(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	rendered := func(list runtime.Object, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, child := range items(t, list) {
			if child.GetKind() != "ControllerRevision" {
				names = append(names, strings.TrimSpace(child.GetKind()+" "+child.GetName()+" "+string(child.GetOwnerReferences()[0].UID)))
			}
		}
		return names
	}
	want := []string{"ModelBox db", "ModelBox web", "Service mail"}
	if diff := cmp.Diff(want, rendered(storage.Render.Create(inDefault(t), "shop", shop(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{}))); diff != "" {
		t.Errorf("of a stack that is sent, -want +got:\n%s", diff)
	}
	if _, err := storage.Render.Get(inDefault(t), "shop", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it has been stored: %v", err)
	}
	uid := string(create(t, storage, shop()).UID)
	for i := range want {
		want[i] += " " + uid
	}
	if diff := cmp.Diff(want, rendered(storage.Render.Get(inDefault(t), "shop", &metav1.GetOptions{}))); diff != "" {
		t.Errorf("of the stored stack, -want +got:\n%s", diff)
	}
	if _, err := storage.Render.Create(inDefault(t), "shop", &model.ModelBox{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("of a box, got %v, want 400", err)
	}
}
