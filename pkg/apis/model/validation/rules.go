// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateFormat requires a value that one of apimachinery's format checks accepts.
func validateFormat(value string, format func(string) []string, path *field.Path) field.ErrorList {
	messages := format(value)
	if value == "" && len(messages) > 0 {
		return field.ErrorList{field.Required(path, strings.Join(messages, "; "))}
	}
	return invalid(path, value, messages)
}

// validateOptionalName requires that the name is one that an object can have, or none.
func validateOptionalName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return validateFormat(name, validation.IsDNS1123Subdomain, path)
}

func invalid(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

func validateRequired(value string, path *field.Path, detail string) field.ErrorList {
	if value != "" {
		return nil
	}
	return field.ErrorList{field.Required(path, detail)}
}

func validateChoice[T ~string](value T, choices []T, path *field.Path) field.ErrorList {
	if slices.Contains(choices, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, choices)}
}

func validateNonNegative[T ~int32 | ~int64](value T, path *field.Path) field.ErrorList {
	if value >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "must be 0 or more")}
}

// unique remembers where each value was seen first.
type unique[T comparable] map[T]*field.Path

// add refuses a value that was seen before. The zero value is not one: it is a missing value, which is a matter of
// other rules.
func (u unique[T]) add(value T, path *field.Path) field.ErrorList {
	var missing T
	if value == missing {
		return nil
	}
	if first, found := u[value]; found {
		duplicate := field.Duplicate(path, value)
		duplicate.Detail = fmt.Sprintf("%s has it already", first)
		return field.ErrorList{duplicate}
	}
	u[value] = path
	return nil
}

// member is one of the fields of which an object has one.
type member struct {
	name     string
	set      bool
	validate func(*field.Path) field.ErrorList
}

func oneOf[T any](name string, value *T, validate func(*T, *field.Path) field.ErrorList) member {
	return member{name, value != nil, func(path *field.Path) field.ErrorList { return validate(value, path) }}
}

// unwanted is a field that has no place beside others.
type unwanted struct {
	name string
	set  bool
}

// forbidden refuses the fields that are set.
func forbidden(detail string, path *field.Path, fields []unwanted) field.ErrorList {
	var errs field.ErrorList
	for _, f := range fields {
		if f.set {
			errs = append(errs, field.Forbidden(path.Child(f.name), detail))
		}
	}
	return errs
}

// validateAtMostOne validates the first member that is set and refuses the others.
func validateAtMostOne(members []member, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	given := ""
	for _, m := range members {
		switch {
		case !m.set:
		case given == "":
			given = m.name
			errs = append(errs, m.validate(path.Child(m.name))...)
		default:
			errs = append(errs, field.Forbidden(path.Child(m.name), fmt.Sprintf("only one may be given, and %s is", given)))
		}
	}
	return errs
}

// validateExactlyOne validates the first member that is set, refuses the others, and requires one.
func validateExactlyOne(members []member, path *field.Path) field.ErrorList {
	if slices.ContainsFunc(members, func(m member) bool { return m.set }) {
		return validateAtMostOne(members, path)
	}
	var names []string
	for _, m := range members {
		names = append(names, m.name)
	}
	return field.ErrorList{field.Required(path, "must have one of: "+strings.Join(names, ", "))}
}
