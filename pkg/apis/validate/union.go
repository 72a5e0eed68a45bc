// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Member is one of several fields of which an object may have only one.
type Member struct {
	Name string
	Set  bool
	// Validate is called with the path of the field if the field is set. It may be nil.
	Validate func(*field.Path) field.ErrorList
}

// MemberOf returns a member that is set if value is not nil.
func MemberOf[T any](name string, value *T, validate func(*T, *field.Path) field.ErrorList) Member {
	return Member{name, value != nil, func(path *field.Path) field.ErrorList { return validate(value, path) }}
}

// AtMostOneOf validates the first member that is set and refuses the others.
func AtMostOneOf(members []Member, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	given := ""
	for _, m := range members {
		switch {
		case !m.Set:
		case given == "":
			given = m.Name
			if m.Validate != nil {
				errs = append(errs, m.Validate(path.Child(m.Name))...)
			}
		default:
			errs = append(errs, field.Forbidden(path.Child(m.Name), fmt.Sprintf("only one may be given, and %s is", given)))
		}
	}
	return errs
}

// ExactlyOneOf is AtMostOneOf, and requires one.
func ExactlyOneOf(members []Member, path *field.Path) field.ErrorList {
	if slices.ContainsFunc(members, func(m Member) bool { return m.Set }) {
		return AtMostOneOf(members, path)
	}
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return field.ErrorList{field.Required(path, "must have one of: "+strings.Join(names, ", "))}
}
