// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	fsGroupChangePolicies = []corev1.PodFSGroupChangePolicy{
		corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways,
	}
	supplementalGroupsPolicies = []corev1.SupplementalGroupsPolicy{
		corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict,
	}
	// seLinuxChangePolicies are without MountOption, which clusters take with the feature SELinuxMount only.
	seLinuxChangePolicies = []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyRecursive}
)

func validatePodSecurityContext(spec *corev1.PodSpec, pod PodContext, path *field.Path) field.ErrorList {
	context := spec.SecurityContext
	if context == nil {
		return nil
	}
	errs := slices.Concat(
		validateSysctls(spec, path.Child("sysctls")),
		validateSeccompProfileField(context.SeccompProfile, path.Child("seccompProfile")),
		validateAppArmorProfileField(context.AppArmorProfile, path.Child("appArmorProfile")),
		validateWindowsSecurityContextOptions(context.WindowsOptions, pod, path.Child("windowsOptions")),
		validateUserAndGroup(context.RunAsUser, context.RunAsGroup, path),
	)
	if group := context.FSGroup; group != nil {
		errs = append(errs, validate.Invalid(path.Child("fsGroup"), *group, validation.IsValidGroupID(*group))...)
	}
	for i, group := range validate.Each(context.SupplementalGroups, &errs) {
		errs = append(errs, validate.Invalid(path.Child("supplementalGroups").Index(i), group, validation.IsValidGroupID(group))...)
	}
	errs = append(errs, validate.EnumPointer(context.FSGroupChangePolicy, fsGroupChangePolicies, path.Child("fsGroupChangePolicy"))...)
	errs = append(errs, validate.EnumPointer(context.SupplementalGroupsPolicy, supplementalGroupsPolicies, path.Child("supplementalGroupsPolicy"))...)
	errs = append(errs, validate.EnumPointer(context.SELinuxChangePolicy, seLinuxChangePolicies, path.Child("seLinuxChangePolicy"))...)
	return errs
}

// validateUserAndGroup validates runAsUser and runAsGroup of a pod or a container.
func validateUserAndGroup(user, group *int64, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if user != nil {
		errs = append(errs, validate.Invalid(path.Child("runAsUser"), *user, validation.IsValidUserID(*user))...)
	}
	if group != nil {
		errs = append(errs, validate.Invalid(path.Child("runAsGroup"), *group, validation.IsValidGroupID(*group))...)
	}
	return errs
}
