// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// withValidResourceVersion refuses a changed box whose resourceVersion is none, which the generic store takes for an error of
// its own.
func withValidResourceVersion(objInfo rest.UpdatedObjectInfo) rest.UpdatedObjectInfo {
	return rest.WrapUpdatedObjectInfo(objInfo, func(_ context.Context, obj, _ runtime.Object) (runtime.Object, error) {
		box, ok := obj.(*model.ModelBox)
		if !ok {
			return obj, nil
		}
		if errs := validateResourceVersion(box.ResourceVersion); len(errs) > 0 {
			return nil, apierrors.NewInvalid(model.Kind("ModelBox"), box.Name, errs)
		}
		return obj, nil
	})
}

func validateResourceVersion(version string) field.ErrorList {
	if _, err := (storage.APIObjectVersioner{}).ParseResourceVersion(version); err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), version, "must be one that the server returned, or left out")}
	}
	return nil
}
