// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/jsonform"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// validateJSONForm refuses a spec with a value that has no JSON form, which a client can send as protobuf. The storage would count the
// object as corrupt.
func validateJSONForm(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if found := jsonform.Find(spec); found != nil {
		return field.ErrorList{field.Invalid(path.Child(found.Path), field.OmitValueType{}, found.Detail)}
	}
	return nil
}
