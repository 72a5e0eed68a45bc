// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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
	return validate.Enum(spec.OS.Name, operatingSystems, path.Child("os", "name"))
}

func validateLinux(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if context := spec.SecurityContext; context != nil {
		errs = validate.Forbidden(linuxRule, path.Child("securityContext"), []validate.Field{{Name: "windowsOptions", Set: context.WindowsOptions != nil}})
	}
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		if context := container.SecurityContext; context != nil {
			options := []validate.Field{{Name: "windowsOptions", Set: context.WindowsOptions != nil}}
			errs = append(errs, validate.Forbidden(linuxRule, containerPath.Child("securityContext"), options)...)
		}
	})
	return errs
}

func validateWindows(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := validate.Forbidden(windowsRule, path, []validate.Field{
		{Name: "hostUsers", Set: spec.HostUsers != nil},
		{Name: "hostPID", Set: spec.HostPID},
		{Name: "hostIPC", Set: spec.HostIPC},
		{Name: "shareProcessNamespace", Set: spec.ShareProcessNamespace != nil},
		{Name: "resources", Set: spec.Resources != nil},
	})
	if context := spec.SecurityContext; context != nil {
		errs = append(errs, validate.Forbidden(windowsRule, path.Child("securityContext"), linuxPodFields(context))...)
	}
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		if context := container.SecurityContext; context != nil {
			errs = append(errs, validate.Forbidden(windowsRule, containerPath.Child("securityContext"), linuxContainerFields(context))...)
		}
	})
	return errs
}

func linuxPodFields(context *corev1.PodSecurityContext) []validate.Field {
	return []validate.Field{
		{Name: "appArmorProfile", Set: context.AppArmorProfile != nil},
		{Name: "seLinuxOptions", Set: context.SELinuxOptions != nil},
		{Name: "seccompProfile", Set: context.SeccompProfile != nil},
		{Name: "fsGroup", Set: context.FSGroup != nil},
		{Name: "fsGroupChangePolicy", Set: context.FSGroupChangePolicy != nil},
		{Name: "sysctls", Set: len(context.Sysctls) > 0},
		{Name: "runAsUser", Set: context.RunAsUser != nil},
		{Name: "runAsGroup", Set: context.RunAsGroup != nil},
		{Name: "supplementalGroups", Set: context.SupplementalGroups != nil},
		{Name: "supplementalGroupsPolicy", Set: context.SupplementalGroupsPolicy != nil},
		{Name: "seLinuxChangePolicy", Set: context.SELinuxChangePolicy != nil},
	}
}

func linuxContainerFields(context *corev1.SecurityContext) []validate.Field {
	return []validate.Field{
		{Name: "appArmorProfile", Set: context.AppArmorProfile != nil},
		{Name: "seLinuxOptions", Set: context.SELinuxOptions != nil},
		{Name: "seccompProfile", Set: context.SeccompProfile != nil},
		{Name: "capabilities", Set: context.Capabilities != nil},
		{Name: "readOnlyRootFilesystem", Set: context.ReadOnlyRootFilesystem != nil},
		{Name: "privileged", Set: context.Privileged != nil},
		{Name: "allowPrivilegeEscalation", Set: context.AllowPrivilegeEscalation != nil},
		{Name: "procMount", Set: context.ProcMount != nil},
		{Name: "runAsUser", Set: context.RunAsUser != nil},
		{Name: "runAsGroup", Set: context.RunAsGroup != nil},
	}
}
