// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storagequota

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var boxKind = modelv1.SchemeGroupVersion.WithKind("ModelBox")

// interfaces know the kinds of the group.
var interfaces = func() admission.ObjectInterfaces {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return admission.NewObjectInterfacesFromScheme(scheme)
}()

func newBox(annotation string, finalizers ...string) *model.ModelBox {
	return &model.ModelBox{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "default", Annotations: map[string]string{"note": annotation}, Finalizers: finalizers,
	}}
}

func beingDeleted(box *model.ModelBox) *model.ModelBox {
	now := metav1.Now()
	box.DeletionTimestamp = &now
	return box
}

func writtenBy(manager string, box *model.ModelBox) *model.ModelBox {
	box.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: manager}}
	return box
}

func withFields(letters int, box *model.ModelBox) *model.ModelBox {
	box.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:` + strings.Repeat("a", letters) + `":{}}`)}}}
	return box
}

func TestValidate(t *testing.T) {
	full := errors.New("full")
	boxes, others := modelv1.Resource("modelboxes"), schema.GroupResource{Group: "example.com", Resource: "others"}
	for _, row := range []struct {
		name        string
		shortage    error
		operation   admission.Operation
		resource    schema.GroupResource
		subresource string
		from, to    *model.ModelBox
		want        error
	}{
		{"a new box while there is room", nil, admission.Create, boxes, "", nil, newBox("a"), nil},
		{"a new box while there is none", full, admission.Create, boxes, "", nil, newBox("a"), full},
		{"a box that grows", full, admission.Update, boxes, "", newBox("a"), newBox("ab"), full},
		{"a box that grows while there is room", nil, admission.Update, boxes, "", newBox("a"), newBox("ab"), nil},
		{"a box that shrinks", full, admission.Update, boxes, "", newBox("ab"), newBox("a"), nil},
		{"a box that changes", full, admission.Update, boxes, "", newBox("a"), newBox("b"), nil},
		{"a box that loses a finalizer", full, admission.Update, boxes, "", newBox("a", "example.com/hold"), newBox("a"), nil},
		{"a box that another client shrinks", full, admission.Update, boxes, "", newBox("ab"), writtenBy("kubectl-edit", newBox("a")), nil},
		{"a box whose managed fields grow by fields that the box does not have", full, admission.Update, boxes, "", newBox("ab"), withFields(1<<20, newBox("a")), full},
		{"a box whose managed fields were too large before", full, admission.Update, boxes, "", withFields(1<<20, newBox("ab")), withFields(1<<20, newBox("ab")), nil},
		{"a box that is being deleted", full, admission.Update, boxes, "", newBox("a"), beingDeleted(newBox("ab")), nil},
		{"a status", full, admission.Update, boxes, "status", newBox("a"), newBox("ab"), nil},
		{"an object of another group", full, admission.Create, others, "", nil, newBox("a"), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			plugin := &Plugin{}
			Initializer{Shortage: func() error { return row.shortage }}.Initialize(plugin)
			var from runtime.Object
			if row.from != nil {
				from = row.from
			}
			attributes := admission.NewAttributesRecord(row.to, from, boxKind, "default", "web",
				row.resource.WithVersion("v1"), row.subresource, row.operation, nil, false, nil)
			if got := plugin.Validate(t.Context(), attributes, interfaces); !errors.Is(got, row.want) {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestAnOutsideStorageIsNotAsked(t *testing.T) {
	plugin := &Plugin{}
	Initializer{}.Initialize(plugin)
	attributes := admission.NewAttributesRecord(newBox("a"), nil, boxKind, "default", "web",
		modelv1.SchemeGroupVersion.WithResource("modelboxes"), "", admission.Create, nil, false, nil)
	if err := plugin.Validate(t.Context(), attributes, interfaces); err != nil {
		t.Error(err)
	}
}
