// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxFileMode = 0o777

// validateFilePath validates the place of a projected file inside its volume. Names that start with ".." are those
// under which the kubelet keeps the volume's content.
func validateFilePath(value string, fldPath *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(fldPath, "must be the path of the file in the volume")}
	}
	errs := validateRelativePath(value, fldPath)
	if strings.HasPrefix(value, "..") && !hasBackstep(value) {
		errs = append(errs, field.Invalid(fldPath, value, "must not start with '..'"))
	}
	return errs
}

func validateRelativePath(value string, fldPath *field.Path) field.ErrorList {
	errs := validateNoBacksteps(value, fldPath)
	if path.IsAbs(value) {
		errs = append(errs, field.Invalid(fldPath, value, "must be a relative path: it must not start with '/'"))
	}
	return errs
}

func validateNoBacksteps(value string, fldPath *field.Path) field.ErrorList {
	if !hasBackstep(value) {
		return nil
	}
	return field.ErrorList{field.Invalid(fldPath, value, "must not contain '..' as a step")}
}

func hasBackstep(value string) bool {
	return slices.Contains(strings.Split(value, "/"), "..")
}

func validateFileMode(mode *int32, fldPath *field.Path) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= maxFileMode {
		return nil
	}
	return field.ErrorList{field.Invalid(fldPath, *mode, "must be between 0 and 0777 (511 in decimal)")}
}
