// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// ValidateNoDirectives refuses keys of maps in the overlay of a box that would be directives to a strategic merge, such
// as "$patch": they would say how to merge, where a map of names and values has to be, and are lost in it. The spec of the box is at path.
func ValidateNoDirectives(box *model.ModelBox, path *field.Path) field.ErrorList {
	if box.Spec.PodTemplate == nil {
		return nil
	}
	var errs field.ErrorList
	overlay := &lazyPath{root: path.Child("podTemplate")}
	visitFields(reflect.ValueOf(box.Spec.PodTemplate), overlay, "", func(path *lazyPath, _ string, value reflect.Value) {
		if value.Kind() != reflect.Map {
			return
		}
		for _, key := range value.MapKeys() {
			if helper.IsMergeDirective(key.String()) && len(errs) < validate.MaxErrors {
				errs = append(errs, field.Forbidden(path.build().Key(key.String()),
					"would be a directive to the merge of podTemplate, which adds and replaces only"))
			}
		}
	})
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// ValidateNoDirectivesUpdate is ValidateNoDirectives of a box that replaces old, without what stays.
func ValidateNoDirectivesUpdate(box, old *model.ModelBox, path *field.Path) field.ErrorList {
	errs := ValidateNoDirectives(box, path)
	if len(errs) == 0 {
		return nil
	}
	return Ratchet(path.Child("podTemplate"), box.Spec.PodTemplate, old.Spec.PodTemplate, errs, ValidateNoDirectives(old, path))
}
