// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

func TestNoteChange(t *testing.T) {
	t.Parallel()
	by := func(user string) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Annotations = map[string]string{modelv1.ChangedByAnnotation: user} }
	}
	unknown := func(box *model.ModelBox) { delete(box.Annotations, modelv1.ChangedByAnnotation) }
	for _, row := range []struct {
		name      string
		requester string
		box, old  *model.ModelBox
		want      string
	}{
		{"a new box is its creator's", "anna", webBox(), nil, "anna"},
		{"whatever a new box says", "anna", webBox(by("bob")), nil, "anna"},
		{"a new box of an unknown creator has no user", "", webBox(by("bob")), nil, ""},
		{"a change of the pods is the requester's", "anna", webBox(by("bob"), image("nginx:2")), webBox(by("bob")), "anna"},
		{"a change of the pods by an unknown requester has no user", "", webBox(by("bob"), image("nginx:2")), webBox(by("bob")), ""},
		{"a change that leaves the pods leaves whose they are", "anna", webBox(by("bob"), func(box *model.ModelBox) {
			box.Spec.Replicas, box.Spec.Paused, box.Spec.ServiceType = ptr.To[int32](7), true, model.ServiceTypeNodePort
		}), webBox(by("bob")), "bob"},
		{"which cannot be changed", "anna", webBox(by("anna")), webBox(by("bob")), "bob"},
		{"or left out", "anna", webBox(unknown), webBox(by("bob")), "bob"},
		{"or claimed", "anna", webBox(by("anna")), webBox(unknown), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			if row.requester != "" {
				ctx = genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: row.requester})
			}
			noteChange(ctx, row.box, row.old)
			author, isNoted := row.box.Annotations[modelv1.ChangedByAnnotation]
			if author != row.want || isNoted != (row.want != "") {
				t.Errorf("it is the change of %q, want %q", author, row.want)
			}
		})
	}
}

// expectPodsOfTheirFields checks that what is left out when two boxes are compared for their pods is in none.
func expectPodsOfTheirFields(t *testing.T, box *model.ModelBox) {
	t.Helper()
	reduced := box.DeepCopy()
	reduced.Spec = ofPods(reduced.Spec)
	want, err := modelboxrender.PodTemplate(asServed(t, box))
	if err != nil {
		t.Fatal(err)
	}
	got, err := modelboxrender.PodTemplate(asServed(t, reduced))
	if err != nil {
		t.Fatal(err)
	}
	if !apiequality.Semantic.DeepEqual(want, got) {
		t.Errorf("a field that no pod should have anything of changes the pods:\n%s", cmp.Diff(want, got))
	}
}
