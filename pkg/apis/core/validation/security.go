// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// maxAppArmorProfileLength is the maximum length of a path on Linux without its final zero.
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

const (
	maxSysctlLength = 253
	sysctlRule      = `must be a name of lower case letters, digits, '-' and '_', in parts separated by '.' or '/', such as "net.core.somaxconn"`
)

var (
	sysctlName = regexp.MustCompile(`^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$`)

	// ipcSysctls are those that belong to the IPC namespace of a pod, besides all in fs.mqueue.
	ipcSysctls = []string{
		"kernel.sem", "kernel.shm", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
		"kernel.msg", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni",
	}
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
	errs := validateUserID(user, path.Child("runAsUser"))
	if group != nil {
		errs = append(errs, validate.Invalid(path.Child("runAsGroup"), *group, validation.IsValidGroupID(*group))...)
	}
	return errs
}

func validateUserID(user *int64, path *field.Path) field.ErrorList {
	if user == nil {
		return nil
	}
	return validate.Invalid(path, *user, validation.IsValidUserID(*user))
}

func validateSysctls(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i, sysctl := range validate.Each(spec.SecurityContext.Sysctls, &errs) {
		namePath := path.Index(i).Child("name")
		errs = append(errs, slices.Concat(
			validate.Format(sysctl.Name, sysctlNameProblems, namePath),
			names.Add(sysctl.Name, namePath),
			validateSysctlNamespace(spec, sysctl.Name, namePath),
		)...)
	}
	return errs
}

func sysctlNameProblems(name string) []string {
	switch {
	case len(name) > maxSysctlLength:
		return []string{fmt.Sprintf("must have at most %d characters", maxSysctlLength)}
	case !sysctlName.MatchString(name):
		return []string{sysctlRule}
	}
	return nil
}

// validateSysctlNamespace refuses sysctls that a pod would set for its whole node.
func validateSysctlNamespace(spec *corev1.PodSpec, name string, path *field.Path) field.ErrorList {
	name = dotted(name)
	if spec.HostNetwork && strings.HasPrefix(name, "net.") {
		return field.ErrorList{field.Invalid(path, name, "may not be given when hostNetwork is true")}
	}
	if spec.HostIPC && (strings.HasPrefix(name, "fs.mqueue.") || slices.Contains(ipcSysctls, name)) {
		return field.ErrorList{field.Invalid(path, name, "may not be given when hostIPC is true")}
	}
	return nil
}

// dotted returns the name of a sysctl in the form with dots. In the form with slashes, a dot is part of a name, such as the name of
// an interface.
func dotted(name string) string {
	separator := strings.IndexAny(name, "./")
	if separator < 0 || name[separator] == '.' {
		return name
	}
	return strings.NewReplacer("/", ".", ".", "/").Replace(name)
}
