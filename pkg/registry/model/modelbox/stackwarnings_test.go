// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

func TestStackWarnings(t *testing.T) {
	applied := func(fields string) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager: "modelbox-apiserver", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields),
			}}
		}
	}
	const all = `{"f:spec":{"f:image":{},"f:replicas":{}}}`
	inStack := func(box *model.ModelBox) {
		box.OwnerReferences = []metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelStack", Name: "shop", UID: "1", Controller: ptr.To(true)}}
		applied(all)(box)
	}
	takenBack := ": " + warn.RevertedByStack("shop")
	otherImage := func(box *model.ModelBox) { box.Spec.Image = "nginx:2" }
	for _, row := range []struct {
		name string
		old  func(*model.ModelBox)
		new  []func(*model.ModelBox)
		want []string
	}{
		{"a field that the stack sets", inStack, []func(*model.ModelBox){otherImage, applied(`{"f:spec":{"f:replicas":{}}}`)}, []string{"spec.image" + takenBack}},
		{"all fields that the stack sets", inStack, []func(*model.ModelBox){otherImage, applied(`{}`)}, []string{"spec.image, spec.replicas" + takenBack}},
		{"a field that the stack leaves to others", inStack, []func(*model.ModelBox){func(box *model.ModelBox) { box.Spec.Args = []string{"-v"} }}, nil},
		{"a change by the stack", inStack, []func(*model.ModelBox){otherImage, applied(`{}`), func(box *model.ModelBox) {
			box.Annotations = map[string]string{modelv1.RenderHashAnnotation: "2"}
		}}, nil},
		{"a box without a stack", applied(all), []func(*model.ModelBox){otherImage, applied(`{}`)}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox()
			row.old(old)
			box := old.DeepCopy()
			for _, change := range row.new {
				change(box)
			}
			if diff := cmp.Diff(row.want, stackWarnings(box, old)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
