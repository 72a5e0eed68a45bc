// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	windowsRule = "may not be given when os.name is windows"
	linuxRule   = "may not be given when os.name is linux"
)

var operatingSystems = []corev1.OSName{corev1.Linux, corev1.Windows}

// validateOS refuses fields that mean nothing to the operating system that the pod names. A pod that names none is not
// checked.
func validateOS(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	if spec.OS == nil {
		return nil
	}
	switch spec.OS.Name {
	case "":
		return field.ErrorList{field.Required(path.Child("os", "name"), "must be linux or windows")}
	case corev1.Linux:
		return validateLinux(spec, path)
	case corev1.Windows:
		return validateWindows(spec, path)
	}
	return validateChoice(spec.OS.Name, operatingSystems, path.Child("os", "name"))
}

func validateLinux(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if context := spec.SecurityContext; context != nil {
		errs = forbidden(linuxRule, path.Child("securityContext"), []unwanted{{"windowsOptions", context.WindowsOptions != nil}})
	}
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		if context := container.SecurityContext; context != nil {
			options := []unwanted{{"windowsOptions", context.WindowsOptions != nil}}
			errs = append(errs, forbidden(linuxRule, containerPath.Child("securityContext"), options)...)
		}
	})
	return errs
}

func validateWindows(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := forbidden(windowsRule, path, []unwanted{
		{"hostUsers", spec.HostUsers != nil},
		{"hostPID", spec.HostPID},
		{"hostIPC", spec.HostIPC},
		{"shareProcessNamespace", spec.ShareProcessNamespace != nil},
		{"resources", spec.Resources != nil},
	})
	if context := spec.SecurityContext; context != nil {
		errs = append(errs, forbidden(windowsRule, path.Child("securityContext"), linuxPodFields(context))...)
	}
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		if context := container.SecurityContext; context != nil {
			errs = append(errs, forbidden(windowsRule, containerPath.Child("securityContext"), linuxContainerFields(context))...)
		}
	})
	return errs
}

func linuxPodFields(context *corev1.PodSecurityContext) []unwanted {
	return []unwanted{
		{"appArmorProfile", context.AppArmorProfile != nil},
		{"seLinuxOptions", context.SELinuxOptions != nil},
		{"seccompProfile", context.SeccompProfile != nil},
		{"fsGroup", context.FSGroup != nil},
		{"fsGroupChangePolicy", context.FSGroupChangePolicy != nil},
		{"sysctls", len(context.Sysctls) > 0},
		{"runAsUser", context.RunAsUser != nil},
		{"runAsGroup", context.RunAsGroup != nil},
		{"supplementalGroups", context.SupplementalGroups != nil},
		{"supplementalGroupsPolicy", context.SupplementalGroupsPolicy != nil},
		{"seLinuxChangePolicy", context.SELinuxChangePolicy != nil},
	}
}

func linuxContainerFields(context *corev1.SecurityContext) []unwanted {
	return []unwanted{
		{"appArmorProfile", context.AppArmorProfile != nil},
		{"seLinuxOptions", context.SELinuxOptions != nil},
		{"seccompProfile", context.SeccompProfile != nil},
		{"capabilities", context.Capabilities != nil},
		{"readOnlyRootFilesystem", context.ReadOnlyRootFilesystem != nil},
		{"privileged", context.Privileged != nil},
		{"allowPrivilegeEscalation", context.AllowPrivilegeEscalation != nil},
		{"procMount", context.ProcMount != nil},
		{"runAsUser", context.RunAsUser != nil},
		{"runAsGroup", context.RunAsGroup != nil},
	}
}
