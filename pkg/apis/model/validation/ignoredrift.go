// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childfields"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// wholeFields hold so much of a child that the box would no longer decide anything about it.
var wholeFields = []string{"spec", "spec.template", "spec.template.metadata", "spec.template.spec"}

// validateIgnoreDrift requires paths of fields that children have. A child must still belong to its box if other field managers own
// these fields.
func validateIgnoreDrift(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	ignored, path := spec.IgnoreDrift, path.Child("ignoreDrift")
	if ignored == nil {
		return nil
	}
	var errs field.ErrorList
	for _, child := range []struct {
		kind, field string
		paths       []string
	}{
		{"Deployment", "deployment", ignored.Deployment},
		{"StatefulSet", "statefulSet", ignored.StatefulSet},
		{"DaemonSet", "daemonSet", ignored.DaemonSet},
		{"Service", "service", ignored.Service},
		{"Ingress", "ingress", ignored.Ingress},
		{"HTTPRoute", "httpRoute", ignored.HTTPRoute},
		{"HorizontalPodAutoscaler", "horizontalPodAutoscaler", ignored.HorizontalPodAutoscaler},
		{"PodDisruptionBudget", "podDisruptionBudget", ignored.PodDisruptionBudget},
	} {
		for i, text := range child.paths {
			if err := checkIgnored(child.kind, text); err != nil {
				errs = append(errs, field.Invalid(path.Child(child.field).Index(i), text, err.Error()))
			}
		}
	}
	return errs
}

// checkIgnored returns what keeps a field of a kind of children from being anybody's but the box's.
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
		return errors.New("must be the path of a field, as spec.replicas")
	case isWhole:
		return fmt.Errorf("is too much of the %s: name what is below it", kind)
	case names[0] == "spec" && names[1] == "selector":
		return errors.New("tells which pods are those of the box")
	case names[0] == "spec" && names[1] == "template" && names[2] == "metadata":
		return checkIgnoredMeta(kind, names[3:])
	case names[0] == "spec":
		return nil
	case names[0] == "metadata":
		return checkIgnoredMeta(kind, names[1:])
	default:
		return errors.New("is not what a box asks for: name a field of spec, a label or an annotation")
	}
}

// checkIgnoredMeta is checkIgnored for a path that continues with these names below metadata.
func checkIgnoredMeta(kind string, names []string) error {
	switch {
	case len(names) == 1 && (names[0] == "labels" || names[0] == "annotations"):
		return fmt.Errorf("is too much of the %s: name what is below it", kind)
	case len(names) == 2 && names[0] == "labels" && (slices.Contains(fixedLabels, names[1]) || names[1] == modelv1.StackLabel || names[1] == modelv1.ComponentLabel):
		return errors.New("tells whose the child is")
	case len(names) == 2 && names[0] == "annotations" && isFixedAnnotation(names[1]):
		return errors.New("is where the server keeps what it knows of the child")
	case len(names) == 2 && (names[0] == "labels" || names[0] == "annotations"):
		return nil
	default:
		return errors.New("is not what a box asks for: name a field of spec, a label or an annotation")
	}
}
