// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// ValidatePodSpecificAnnotations validates the annotations of a pod that mean something to the cluster.
func ValidatePodSpecificAnnotations(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range validate.Each(slices.Sorted(maps.Keys(template.Annotations)), &errs) {
		value, valuePath := template.Annotations[key], path.Key(key)
		appArmored, isAppArmor := strings.CutPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
		confined, isSeccomp := strings.CutPrefix(key, corev1.SeccompContainerAnnotationKeyPrefix)
		switch {
		case key == corev1.MirrorPodAnnotationKey:
			errs = append(errs, field.Forbidden(valuePath, "marks the pods that a node made by itself"))
		case key == corev1.PodDeletionCost:
			errs = append(errs, validateDeletionCost(value, valuePath)...)
		case key == corev1.TolerationsAnnotationKey:
			errs = append(errs, validateTolerationsAnnotation(value, valuePath)...)
		case key == corev1.SeccompPodAnnotationKey:
			errs = append(errs, validatePodSeccompAnnotation(value, &template.Spec, valuePath)...)
		case isSeccomp:
			errs = append(errs, validateSeccompAnnotation(value, confined, &template.Spec, valuePath)...)
		case isAppArmor:
			errs = append(errs, validateAppArmorAnnotation(value, appArmored, &template.Spec, valuePath)...)
		}
	}
	return errs
}

func validateDeletionCost(value string, path *field.Path) field.ErrorList {
	padded := strings.HasPrefix(value, "+") || strings.HasPrefix(value, "0") && value != "0"
	if _, err := strconv.ParseInt(value, 10, 32); err != nil || padded {
		return field.ErrorList{field.Invalid(path, value, "must be an integer of 32 bits without '+' or leading zeros")}
	}
	return nil
}

func validateTolerationsAnnotation(value string, path *field.Path) field.ErrorList {
	if value == "" {
		return nil
	}
	var tolerations []corev1.Toleration
	if err := json.Unmarshal([]byte(value), &tolerations); err != nil {
		return field.ErrorList{field.Invalid(path, value, "must be a list of tolerations in JSON: "+err.Error())}
	}
	return validateTolerations(tolerations, path)
}
