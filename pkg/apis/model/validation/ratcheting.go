// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// Ratchet returns the errors of an object that the object did not have before its update: what was wrong already is no
// reason to refuse a change of something else. Elements of lists may have moved meanwhile, but each error of the old
// object excuses one of the new one only; except where validate.MaxErrors kept others of its kind from being found.
func Ratchet(errs, old field.ErrorList) field.ErrorList {
	if len(errs) == 0 || len(old) == 0 {
		return errs
	}
	left, oldLeft := unmatched(errs, old, (*field.Error).Error)
	left, _ = unmatched(left, oldLeft, errorOfAnyElement)
	if len(old) >= validate.MaxErrors {
		kinds := sets.New[string]()
		for _, err := range old {
			kinds.Insert(kindOfError(err))
		}
		left = slices.DeleteFunc(left, func(err *field.Error) bool { return kinds.Has(kindOfError(err)) })
	}
	return left
}

// kindOfError is what is wrong with an element, whatever element of which list it is.
func kindOfError(err *field.Error) string {
	return string(err.Type) + listIndex.ReplaceAllString(err.Field, "[]")
}

// unmatched returns what is left of both lists without the pairs that have the same key.
func unmatched(errs, old field.ErrorList, key func(*field.Error) string) (left, oldLeft field.ErrorList) {
	known := map[string]int{}
	for _, err := range old {
		known[key(err)]++
	}
	matched := map[string]int{}
	for _, err := range errs {
		if matched[key(err)] == known[key(err)] {
			left = append(left, err)
			continue
		}
		matched[key(err)]++
	}
	for _, err := range old {
		if matched[key(err)] == 0 {
			oldLeft = append(oldLeft, err)
			continue
		}
		matched[key(err)]--
	}
	return left, oldLeft
}

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// errorOfAnyElement is the error without the indexes of the list elements that it is about.
func errorOfAnyElement(err *field.Error) string {
	anywhere := *err
	anywhere.Field = listIndex.ReplaceAllString(err.Field, "[]")
	anywhere.Detail = listIndex.ReplaceAllString(err.Detail, "[]")
	return anywhere.Error()
}
