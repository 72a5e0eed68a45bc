// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package validate has the checks of single values, lists and unions that the validation of all types uses.
package validate

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Format requires a value that format, a function of apimachinery, accepts. It reports an empty value as missing.
func Format(value string, format func(string) []string, path *field.Path) field.ErrorList {
	messages := format(value)
	if value == "" && len(messages) > 0 {
		return field.ErrorList{field.Required(path, strings.Join(messages, "; "))}
	}
	return Invalid(path, value, messages)
}

// OptionalName requires a name that an object can have, or an empty one.
func OptionalName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return nil
	}
	return Format(name, validation.IsDNS1123Subdomain, path)
}

// Invalid returns an error about the value for each of the messages.
func Invalid(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// Required requires a value that is not empty. detail describes it.
func Required(value string, path *field.Path, detail string) field.ErrorList {
	if value != "" {
		return nil
	}
	return field.ErrorList{field.Required(path, detail)}
}

// Enum requires one of the supported values.
func Enum[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

// OptionalEnum requires one of the supported values, or an empty one.
func OptionalEnum[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if value == "" {
		return nil
	}
	return Enum(value, supported, path)
}

// EnumPointer requires one of the supported values, or nil.
func EnumPointer[T ~string](value *T, supported []T, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return Enum(*value, supported, path)
}

// Forbidden refuses the fields below path that are set.
func Forbidden(detail string, path *field.Path, fields []Field) field.ErrorList {
	var errs field.ErrorList
	for _, f := range fields {
		if f.Set {
			errs = append(errs, field.Forbidden(path.Child(f.Name), detail))
		}
	}
	return errs
}

// Field is a field of an object, by its JSON name.
type Field struct {
	Name string
	Set  bool
}
