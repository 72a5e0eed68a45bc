// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	// tolerationOperators are without Lt and Gt, which clusters take with the feature TaintTolerationComparisonOperators
	// only.
	tolerationOperators = []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}
	taintEffects        = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
)

func validateTolerations(tolerations []corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(tolerations, &errs) {
		errs = append(errs, validateToleration(&tolerations[i], path.Index(i))...)
	}
	return errs
}

// validateToleration takes no operator for Equal, no key for all keys, and no effect for all effects.
func validateToleration(toleration *corev1.Toleration, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.OptionalEnum(toleration.Operator, tolerationOperators, path.Child("operator")),
		validate.OptionalEnum(toleration.Effect, taintEffects, path.Child("effect")),
		validateTolerationValue(toleration, path.Child("value")),
	)
	if toleration.Key != "" {
		errs = append(errs, validate.Format(toleration.Key, content.IsLabelKey, path.Child("key"))...)
	} else if toleration.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Required(path.Child("key"), "must be given unless operator is Exists"))
	}
	if toleration.TolerationSeconds != nil && toleration.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Forbidden(path.Child("tolerationSeconds"), "needs effect NoExecute"))
	}
	return errs
}

func validateTolerationValue(toleration *corev1.Toleration, path *field.Path) field.ErrorList {
	if toleration.Operator != corev1.TolerationOpExists {
		return validate.Invalid(path, toleration.Value, validation.IsValidLabelValue(toleration.Value))
	}
	if toleration.Value != "" {
		return field.ErrorList{field.Forbidden(path, "may not be given when operator is Exists")}
	}
	return nil
}
