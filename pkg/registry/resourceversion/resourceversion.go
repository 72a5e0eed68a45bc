// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package resourceversion refuses what is no resourceVersion.
package resourceversion

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
)

// Require refuses an updated object of a kind whose resourceVersion is none, which the generic store takes for an error
// of its own.
func Require(kind schema.GroupKind, objInfo rest.UpdatedObjectInfo) rest.UpdatedObjectInfo {
	return rest.WrapUpdatedObjectInfo(objInfo, func(_ context.Context, obj, _ runtime.Object) (runtime.Object, error) {
		object, err := meta.Accessor(obj)
		if err != nil {
			return obj, nil
		}
		if errs := Validate(object.GetResourceVersion()); len(errs) > 0 {
			return nil, apierrors.NewInvalid(kind, object.GetName(), errs)
		}
		return obj, nil
	})
}

// Validate returns what is wrong with a resourceVersion that a user gave.
func Validate(version string) field.ErrorList {
	if _, err := (storage.APIObjectVersioner{}).ParseResourceVersion(version); err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), version, "must be one that the server returned, or left out")}
	}
	return nil
}
