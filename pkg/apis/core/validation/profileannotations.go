// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const profileMatchRule = "must be the same as the profile in the securityContext, or left out"

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
