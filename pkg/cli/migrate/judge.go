// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/scheme"
)

// decode returns the custom resource as a box of the server without a status, which is of the operator and may be anything,
// and errors about fields that the server does not know.
func decode(object *unstructured.Unstructured) (box *modelv1.ModelBox, unknown []error, err error) {
	content := maps.Clone(object.Object)
	delete(content, "status")
	data, err := json.Marshal(content)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the box: %w", err)
	}
	box = &modelv1.ModelBox{}
	unknown, err = kjson.UnmarshalStrict(data, box)
	return box, unknown, err
}

// defaulted returns the box as the server stores it.
func defaulted(box *modelv1.ModelBox) *modelv1.ModelBox {
	box = box.DeepCopy()
	scheme.Scheme.Default(box)
	return box
}

// judgeBox returns the box as the server would store it, nil where it would not, and says what becomes of it.
func (f *findings) judgeBox(ctx context.Context, object *unstructured.Unstructured) *modelv1.ModelBox {
	if object.GetDeletionTimestamp() != nil {
		f.add(refused, "metadata.deletionTimestamp", "the box is being deleted: wait until the deletion is complete")
	}
	for _, finalizer := range object.GetFinalizers() {
		f.add(changed, "metadata.finalizers", "%s is removed from the custom resource, and the box does not get it: no controller would remove it there", finalizer)
	}
	box, unknown, err := decode(object)
	if err != nil {
		f.add(refused, "", "cannot be decoded: %v", err)
		return nil
	}
	for _, err := range unknown {
		f.add(refused, "", "is unknown to the server: %v", err)
	}
	stored := defaulted(box)
	internal := &model.ModelBox{}
	if err := scheme.Scheme.Convert(stored, internal, nil); err != nil {
		f.add(refused, "", "cannot be converted: %v", err)
		return nil
	}
	internal.Finalizers, internal.ManagedFields = nil, nil
	errs := validation.ValidateLimits(internal)
	if len(errs) == 0 {
		errs = validation.ValidateModelBox(ctx, internal)
	}
	for _, err := range errs {
		f.add(refused, err.Field, "%s", err.ErrorBody())
	}
	if len(errs) > 0 {
		return nil
	}
	f.judgeDefaults(object, stored)
	return stored
}

// judgeDefaults says which fields of the spec the server sets.
func (f *findings) judgeDefaults(object *unstructured.Unstructured, stored *modelv1.ModelBox) {
	after, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&stored.Spec)
	if err != nil {
		f.add(refused, "spec", "cannot be encoded: %v", err)
		return
	}
	before, _, _ := unstructured.NestedMap(object.Object, "spec")
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, isSet := before[name]; !isSet && name != "name" {
			f.add(note, "spec."+name, "is set to its default, %s", compact(after[name]))
		}
	}
}

func compact(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// judgeOwners says who else has a say in a child.
func (f *findings) judgeOwners(box *exportedBox, child *unstructured.Unstructured) {
	controller := metav1.GetControllerOfNoCopy(child)
	if controller != nil && controller.UID != box.UID {
		f.add(refused, "", "%s %s is controlled by %s %s", child.GetKind(), child.GetName(), controller.Kind, controller.Name)
	}
}
