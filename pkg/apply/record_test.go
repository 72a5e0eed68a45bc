// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// A cache is read by many at the same time.
func TestTrimmedRecordIsComparedWithoutChangingTheCache(t *testing.T) {
	written := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name:        "web",
		Annotations: map[string]string{modelv1.RecordAnnotation: "record", "note": "keep"},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: render.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:annotations":{"f:model.github.com/record":{}}}}`)},
		}},
	}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(written)
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]Object{"of a Go type": written, "without a Go type": &unstructured.Unstructured{Object: content}} {
		t.Run(name, func(t *testing.T) {
			Trim(object)
			before := object.DeepCopyObject()
			fixture.Check(t, "annotations of the cached child", map[string]string{"note": "keep"}, object.GetAnnotations())
			fixture.Check(t, "the record is as it was written", true, OwnsRecord(object))
			for _, row := range []struct {
				rendered string
				want     map[string]string
			}{
				{"record", map[string]string{modelv1.RecordAnnotation: "record", "note": "keep"}},
				{"another record", map[string]string{"note": "keep"}},
			} {
				rendered := &unstructured.Unstructured{}
				rendered.SetAnnotations(map[string]string{modelv1.RecordAnnotation: row.rendered})
				fixture.Check(t, "annotations compared with "+row.rendered, row.want, withRecord(object, rendered).GetAnnotations())
			}
			fixture.Check(t, "the cached child", before, runtime.Object(object))
		})
	}
}
