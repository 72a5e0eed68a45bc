// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const profileMatchRule = "must be the same as the profile in the securityContext, or left out"

// ValidatePodSpecificAnnotations validates the annotations of a pod that mean something to the cluster.
func ValidatePodSpecificAnnotations(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range validate.Each(slices.Sorted(maps.Keys(template.Annotations)), &errs) {
		value, valuePath := template.Annotations[key], path.Key(key)
		appArmored, isAppArmor := strings.CutPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
		confined, isSeccomp := strings.CutPrefix(key, corev1.SeccompContainerAnnotationKeyPrefix)
		switch {
		case key == corev1.MirrorPodAnnotationKey:
			errs = append(errs, field.Forbidden(valuePath, "marks mirror pods, which only a kubelet creates"))
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

func validatePodSeccompAnnotation(value string, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := validateSeccompAnnotationFormat(value, path)
	if context := spec.SecurityContext; context != nil && len(errs) == 0 {
		errs = validateSeccompProfilesMatch(value, context.SeccompProfile, path)
	}
	return errs
}

func validateSeccompAnnotation(value, container string, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := validateSeccompAnnotationFormat(value, path)
	if len(errs) > 0 {
		return errs
	}
	if context := securityContextOf(spec, container); context != nil {
		errs = validateSeccompProfilesMatch(value, context.SeccompProfile, path)
	}
	return errs
}

func validateSeccompAnnotationFormat(value string, path *field.Path) field.ErrorList {
	profile := seccompProfileOf(value)
	if profile == nil {
		return field.ErrorList{field.Invalid(path, value, "must be runtime/default, unconfined or localhost/<file>")}
	}
	if profile.LocalhostProfile != nil {
		return validateRelativePath(*profile.LocalhostProfile, path)
	}
	return nil
}

func validateSeccompProfilesMatch(value string, profile *corev1.SeccompProfile, path *field.Path) field.ErrorList {
	if profile == nil || reflect.DeepEqual(seccompProfileOf(value), profile) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, profileMatchRule)}
}

// seccompProfileOf is the profile that an annotation asks for, or nil if there is none such.
func seccompProfileOf(value string) *corev1.SeccompProfile {
	switch value {
	case corev1.SeccompProfileRuntimeDefault, corev1.DeprecatedSeccompProfileDockerDefault:
		return &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	case corev1.SeccompProfileNameUnconfined:
		return &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}
	}
	if file, local := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix); local {
		return &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: &file}
	}
	return nil
}

// validateAppArmorAnnotation takes an empty annotation for none where there is no profile either.
func validateAppArmorAnnotation(value, container string, spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	profile := appArmorProfileOf(value)
	switch {
	case !hasContainer(spec, container):
		return field.ErrorList{field.Invalid(path, container, "must be for a container of the pod")}
	case profile == nil && value != "":
		return field.ErrorList{field.Invalid(path, value, "must be runtime/default, unconfined or localhost/<profile>")}
	case spec.OS != nil && spec.OS.Name == corev1.Windows:
		return nil
	}
	var effective *corev1.AppArmorProfile
	if context := spec.SecurityContext; context != nil {
		effective = context.AppArmorProfile
	}
	if context := securityContextOf(spec, container); context != nil && context.AppArmorProfile != nil {
		effective = context.AppArmorProfile
	}
	if effective == nil || reflect.DeepEqual(profile, effective) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, profileMatchRule)}
}

// appArmorProfileOf is the profile that an annotation asks for, or nil if there is none such.
func appArmorProfileOf(value string) *corev1.AppArmorProfile {
	switch value {
	case corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	}
	if name, local := strings.CutPrefix(value, corev1.DeprecatedAppArmorBetaProfileNamePrefix); local {
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
	}
	return nil
}

func hasContainer(spec *corev1.PodSpec, name string) bool {
	found := false
	visitContainers(spec, nil, func(container *corev1.Container, _ *field.Path) { found = found || container.Name == name })
	return found
}

func securityContextOf(spec *corev1.PodSpec, name string) *corev1.SecurityContext {
	var context *corev1.SecurityContext
	visitContainers(spec, nil, func(container *corev1.Container, _ *field.Path) {
		if container.Name == name {
			context = container.SecurityContext
		}
	})
	return context
}
