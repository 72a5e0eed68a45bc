// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		options metav1.DeleteOptions
		list    metainternalversion.ListOptions
		want    []string
		left    []string
	}{
		{"all of the namespace", metav1.DeleteOptions{}, metainternalversion.ListOptions{},
			[]string{"held", "mail", "mail-2", "web"}, []string{"held nginx:1.7.9"}},
		{"by label", metav1.DeleteOptions{}, metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"team": "mail"})},
			[]string{"mail", "mail-2"}, []string{"held nginx:1.7.9", "web nginx:1.7.9"}},
		{"by image", metav1.DeleteOptions{}, metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.image", "postfix:3")},
			[]string{"mail"}, []string{"held nginx:1.7.9", "mail-2 nginx:1.7.9", "web nginx:1.7.9"}},
		{"by label and readiness, which none has", metav1.DeleteOptions{}, metainternalversion.ListOptions{
			LabelSelector: labels.SelectorFromSet(labels.Set{"team": "mail"}), FieldSelector: fields.OneTermEqualSelector("status.ready", "true"),
		}, nil, []string{"held nginx:1.7.9", "mail postfix:3", "mail-2 nginx:1.7.9", "web nginx:1.7.9"}},
		{"a dry run", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, metainternalversion.ListOptions{},
			[]string{"held", "mail", "mail-2", "web"}, []string{"held nginx:1.7.9", "mail postfix:3", "mail-2 nginx:1.7.9", "web nginx:1.7.9"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			create(t, storage, newBox())
			create(t, storage, newBox(named("mail"), withTeam("mail"), withImage("postfix:3")))
			create(t, storage, newBox(named("mail-2"), withTeam("mail")))
			create(t, storage, newBox(named("held"), withFinalizers("example.com/hold")))
			elsewhere := createElsewhere(t, storage)

			deleted, err := storage.ModelBox.DeleteCollection(inDefault(t), rest.ValidateAllObjectFunc, &row.options, &row.list)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, box := range deleted.(*model.ModelBoxList).Items {
				names = append(names, box.Name)
			}
			slices.Sort(names)
			if diff := cmp.Diff(row.want, names); diff != "" {
				t.Errorf("deleted, -want +got:\n%s", diff)
			}
			left := list(t, storage, &metainternalversion.ListOptions{})
			expectBoxes(t, left, row.left...)
			for _, box := range left.Items {
				isMarked := box.DeletionTimestamp != nil
				if want := slices.Contains(names, box.Name) && len(row.options.DryRun) == 0; isMarked != want {
					t.Errorf("%s is being deleted: %t, want %t", box.Name, isMarked, want)
				}
			}
			boxes, err := tryList(elsewhere, storage, &metainternalversion.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			expectBoxes(t, boxes, "web nginx:1.7.9")
		})
	}
}

// createElsewhere stores a box in another namespace and returns the context of requests there.
func createElsewhere(t *testing.T, storage *Storage) context.Context {
	t.Helper()
	ctx := genericapirequest.WithNamespace(t.Context(), "elsewhere")
	box := newBox(func(box *model.ModelBox) { box.Namespace = "elsewhere" })
	if _, err := storage.ModelBox.Create(ctx, box, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return ctx
}
