// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var switchValues = []string{"true", "false"}

// validateAnnotations validates the annotations that the controller reads. A value that it does not know would do nothing, and the
// user would not notice.
func validateAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	value, given := annotations[modelv1.AdoptAnnotation]
	if !given || slices.Contains(switchValues, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Key(modelv1.AdoptAnnotation), value, switchValues)}
}

// validateAnnotationsUpdate does not count what was wrong already.
func validateAnnotationsUpdate(annotations, old map[string]string, path *field.Path) field.ErrorList {
	if was, had := old[modelv1.AdoptAnnotation]; had && annotations[modelv1.AdoptAnnotation] == was {
		return nil
	}
	return validateAnnotations(annotations, path)
}
