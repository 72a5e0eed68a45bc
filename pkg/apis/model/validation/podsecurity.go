// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

func validatePodSecurityContext(spec *corev1.PodSpec, pod podContext, path *field.Path) field.ErrorList {
	context := spec.SecurityContext
	if context == nil {
		return nil
	}
	errs := slices.Concat(
		validateSysctls(spec, path.Child("sysctls")),
		validateSeccompProfile(context.SeccompProfile, path.Child("seccompProfile")),
		validateAppArmorProfile(context.AppArmorProfile, path.Child("appArmorProfile")),
		validateWindowsOptions(context.WindowsOptions, pod, path.Child("windowsOptions")),
		validateUserAndGroup(context.RunAsUser, context.RunAsGroup, path),
	)
	if group := context.FSGroup; group != nil {
		errs = append(errs, invalid(path.Child("fsGroup"), *group, validation.IsValidGroupID(*group))...)
	}
	for i, group := range each(context.SupplementalGroups, &errs) {
		errs = append(errs, invalid(path.Child("supplementalGroups").Index(i), group, validation.IsValidGroupID(group))...)
	}
	if policy := context.FSGroupChangePolicy; policy != nil {
		errs = append(errs, validateChoice(*policy, fsGroupChangePolicies, path.Child("fsGroupChangePolicy"))...)
	}
	if policy := context.SupplementalGroupsPolicy; policy != nil {
		errs = append(errs, validateChoice(*policy, supplementalGroupsPolicies, path.Child("supplementalGroupsPolicy"))...)
	}
	if policy := context.SELinuxChangePolicy; policy != nil {
		errs = append(errs, validateChoice(*policy, seLinuxChangePolicies, path.Child("seLinuxChangePolicy"))...)
	}
	return errs
}

// validateUserAndGroup validates runAsUser and runAsGroup of a pod or a container.
func validateUserAndGroup(user, group *int64, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if user != nil {
		errs = append(errs, invalid(path.Child("runAsUser"), *user, validation.IsValidUserID(*user))...)
	}
	if group != nil {
		errs = append(errs, invalid(path.Child("runAsGroup"), *group, validation.IsValidGroupID(*group))...)
	}
	return errs
}
