// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"reflect"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// IgnoredFields returns the paths of the fields of the children of a kind whose drift the box ignores, for childfields.Parse.
func IgnoredFields(box *modelv1.ModelBox, kind string) []string {
	if box.Spec.IgnoreDrift == nil {
		return nil
	}
	// The Go fields have the names of the kinds.
	paths := reflect.ValueOf(box.Spec.IgnoreDrift).Elem().FieldByName(kind)
	if !paths.IsValid() {
		return nil
	}
	return paths.Interface().([]string)
}
