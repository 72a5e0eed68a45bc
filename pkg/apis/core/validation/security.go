// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// maxAppArmorProfileLength is that of a path on Linux without its final zero.
const maxAppArmorProfileLength = 4095

var (
	seccompProfileTypes = []corev1.SeccompProfileType{
		corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined,
	}
	appArmorProfileTypes = []corev1.AppArmorProfileType{
		corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined,
	}
	procMountTypes = []corev1.ProcMountType{corev1.DefaultProcMount, corev1.UnmaskedProcMount}
)

func validateSecurityContext(context *corev1.SecurityContext, pod PodContext, path *field.Path) field.ErrorList {
	if context == nil {
		return nil
	}
	return slices.Concat(
		validatePrivilegeEscalation(context, path),
		validateProcMount(context.ProcMount, pod, path.Child("procMount")),
		validateSeccompProfileField(context.SeccompProfile, path.Child("seccompProfile")),
		validateAppArmorProfileField(context.AppArmorProfile, path.Child("appArmorProfile")),
		validateWindowsSecurityContextOptions(context.WindowsOptions, pod, path.Child("windowsOptions")),
		validateUserAndGroup(context.RunAsUser, context.RunAsGroup, path),
	)
}

// validatePrivilegeEscalation refuses to forbid the gain of privileges that the container has anyway.
func validatePrivilegeEscalation(context *corev1.SecurityContext, path *field.Path) field.ErrorList {
	if context.AllowPrivilegeEscalation == nil || *context.AllowPrivilegeEscalation {
		return nil
	}
	path = path.Child("allowPrivilegeEscalation")
	var errs field.ErrorList
	if isPrivileged(context) {
		errs = append(errs, field.Invalid(path, false, "must be true or left out when privileged is true"))
	}
	if context.Capabilities != nil && slices.Contains(context.Capabilities.Add, "CAP_SYS_ADMIN") {
		errs = append(errs, field.Invalid(path, false, "must be true or left out when capabilities.add has CAP_SYS_ADMIN"))
	}
	return errs
}

func isPrivileged(context *corev1.SecurityContext) bool {
	return context != nil && isTrue(context.Privileged)
}

func validateProcMount(procMount *corev1.ProcMountType, pod PodContext, path *field.Path) field.ErrorList {
	if procMount == nil {
		return nil
	}
	if *procMount == corev1.UnmaskedProcMount && !pod.userNamespace {
		const detail = "must be Default: Unmasked needs hostUsers false in the pod"
		return field.ErrorList{field.Invalid(path, *procMount, detail)}
	}
	return validate.Enum(*procMount, procMountTypes, path)
}

func validateSeccompProfileField(profile *corev1.SeccompProfile, path *field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	errs := validate.Enum(profile.Type, seccompProfileTypes, path.Child("type"))
	localhostPath := path.Child("localhostProfile")
	switch {
	case profile.Type != corev1.SeccompProfileTypeLocalhost:
		return append(errs, validateNoLocalhostProfile(profile.LocalhostProfile, localhostPath)...)
	case profile.LocalhostProfile == nil:
		return append(errs, field.Required(localhostPath, "must be given with type Localhost"))
	}
	return append(errs, validateRelativePath(*profile.LocalhostProfile, localhostPath)...)
}

func validateAppArmorProfileField(profile *corev1.AppArmorProfile, path *field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	errs := validate.Enum(profile.Type, appArmorProfileTypes, path.Child("type"))
	localhostPath := path.Child("localhostProfile")
	if profile.Type != corev1.AppArmorProfileTypeLocalhost {
		return append(errs, validateNoLocalhostProfile(profile.LocalhostProfile, localhostPath)...)
	}
	switch name := profile.LocalhostProfile; {
	case name == nil || *name == "":
		errs = append(errs, field.Required(localhostPath, "must be given with type Localhost"))
	case strings.TrimSpace(*name) != *name:
		errs = append(errs, field.Invalid(localhostPath, *name, "must not start or end with white space"))
	case len(*name) > maxAppArmorProfileLength:
		errs = append(errs, field.TooLong(localhostPath, *name, maxAppArmorProfileLength))
	}
	return errs
}

func validateNoLocalhostProfile(name *string, path *field.Path) field.ErrorList {
	if name == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *name, "may only be given with type Localhost")}
}
