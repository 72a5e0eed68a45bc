// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childfields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// wholeFields are fields without which the box would set nothing in a child.
var wholeFields = []string{"spec", "spec.template", "spec.template.metadata", "spec.template.spec"}

// validateIgnoreDrift requires paths of fields that children have. A child must still belong to its box if other field managers own
// these fields.
func validateIgnoreDrift(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	ignored := spec.IgnoreDrift
	if ignored == nil {
		return nil
	}
	path = path.Child("ignoreDrift")
	var errs field.ErrorList
	for _, kind := range childkinds.All() {
		if kind.IgnoreDrift == "" {
			continue
		}
		// The Go fields have the names of the kinds.
		paths := reflect.ValueOf(ignored).Elem().FieldByName(kind.Kind).Interface().([]string)
		for i, text := range paths {
			if err := checkIgnored(kind.Kind, text); err != nil {
				errs = append(errs, field.Invalid(path.Child(kind.IgnoreDrift).Index(i), text, err.Error()))
			}
		}
	}
	return errs
}

// checkIgnored returns why other field managers may not own a field of a child of the kind.
func checkIgnored(kind, text string) error {
	ignored, err := childfields.Parse(kind, text)
	if err != nil {
		return err
	}
	names := ignored.Names()
	name := strings.Join(names, ".")
	isWhole := len(names) == len(ignored) && slices.Contains(wholeFields, name)
	switch {
	case len(ignored) == 0:
		return errors.New(mustBeFieldPath)
	case isWhole:
		return errors.New(mustIgnoreLess(kind))
	case names[0] == "spec" && names[1] == "selector":
		return errors.New(mustNotIgnoreSelector)
	case names[0] == "spec" && names[1] == "template" && names[2] == "metadata":
		return checkIgnoredMeta(kind, names[3:])
	case names[0] == "spec":
		return nil
	case names[0] == "metadata":
		return checkIgnoredMeta(kind, names[1:])
	default:
		return errors.New(mustBeFieldOfBox)
	}
}

// checkIgnoredMeta is checkIgnored for a path that continues with these names below metadata.
func checkIgnoredMeta(kind string, names []string) error {
	switch {
	case len(names) == 1 && (names[0] == "labels" || names[0] == "annotations"):
		return errors.New(mustIgnoreLess(kind))
	case len(names) == 2 && names[0] == "labels" && (slices.Contains(fixedLabels, names[1]) || names[1] == modelv1.StackLabel || names[1] == modelv1.ComponentLabel):
		return errors.New(mustNotIgnoreOwner)
	case len(names) == 2 && names[0] == "annotations" && isFixedAnnotation(names[1]):
		return errors.New(mustNotIgnoreServerKey)
	case len(names) == 2 && (names[0] == "labels" || names[0] == "annotations"):
		return nil
	default:
		return errors.New(mustBeFieldOfBox)
	}
}
