// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestRatchet(t *testing.T) {
	list := field.NewPath("spec", "containers")
	noImage := func(index int) *field.Error { return field.Required(list.Index(index).Child("image"), "") }
	wrongName := func(index int, name string) *field.Error {
		return field.Invalid(list.Index(index).Child("name"), name, "")
	}
	duplicate := func(index, first int) *field.Error {
		err := field.Duplicate(list.Index(index).Child("name"), "a")
		err.Detail = list.Index(first).String() + " has it already"
		return err
	}
	errs := func(errs ...*field.Error) field.ErrorList { return errs }

	for _, row := range []struct {
		name           string
		old, new, want field.ErrorList
	}{
		{"an error of before does not count", errs(noImage(0)), errs(noImage(0)), nil},
		{"an error of now counts", nil, errs(noImage(0)), errs(noImage(0))},
		{"an error that is gone is gone", errs(noImage(0)), nil, nil},
		{"another wrong value counts", errs(wrongName(0, "A")), errs(wrongName(0, "B")), errs(wrongName(0, "B"))},
		{"another error of the same field counts", errs(noImage(0)), errs(noImage(0), wrongName(0, "A")), errs(wrongName(0, "A"))},
		{"an element may have moved", errs(noImage(0)), errs(noImage(1)), nil},
		{"what the error says of another element may have moved", errs(duplicate(1, 0)), errs(duplicate(2, 1)), nil},
		{"an element that moved has no company", errs(noImage(0)), errs(noImage(1), noImage(2)), errs(noImage(2))},
		{"the element that stayed is the one of before", errs(noImage(1)), errs(noImage(0), noImage(1)), errs(noImage(0))},
		{"elements stay and move", errs(noImage(0), noImage(2)), errs(noImage(0), noImage(1), noImage(3)), errs(noImage(3))},
		{"an index in a value is a value", errs(wrongName(0, "a[0]")), errs(wrongName(0, "a[1]")), errs(wrongName(0, "a[1]"))},
		{"an element of another list did not move here", errs(field.Required(field.NewPath("spec", "initContainers").Index(0).Child("image"), "")), errs(noImage(0)), errs(noImage(0))},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, Ratchet(row.new, row.old), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
