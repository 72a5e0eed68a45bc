// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	windowsRule = "may not be given when os.name is windows"
	linuxRule   = "may not be given when os.name is linux"
)

var operatingSystems = []corev1.OSName{corev1.Linux, corev1.Windows}

const (
	maxCredentialSpecBytes  = 64 * 1024
	maxWindowsDomainLength  = 255
	maxWindowsUserLength    = 104
	windowsUserNameRule     = `must be a user or domain\user of Windows`
	windowsUserNameReserved = `"/\:;|=,+*?<>@[]`
)

// The forms of a domain in front of a user name: NetBIOS, and DNS in either case.
var (
	netBIOSDomain = regexp.MustCompile(`^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$`)
	dnsDomain     = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	controlChar   = regexp.MustCompile(`[[:cntrl:]]`)
)

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

func validateWindowsSecurityContextOptions(options *corev1.WindowsSecurityContextOptions, pod PodContext, path *field.Path) field.ErrorList {
	if options == nil {
		return nil
	}
	var errs field.ErrorList
	if name := options.GMSACredentialSpecName; name != nil {
		errs = append(errs, validate.Format(*name, validation.IsDNS1123Subdomain, path.Child("gmsaCredentialSpecName"))...)
	}
	if spec := options.GMSACredentialSpec; spec != nil {
		errs = append(errs, validateCredentialSpec(*spec, path.Child("gmsaCredentialSpec"))...)
	}
	if name := options.RunAsUserName; name != nil {
		if problem := windowsUserNameProblem(*name); problem != "" {
			errs = append(errs, field.Invalid(path.Child("runAsUserName"), *name, windowsUserNameRule+": "+problem))
		}
	}
	if isTrue(options.HostProcess) && !pod.hostNetwork {
		errs = append(errs, field.Forbidden(path.Child("hostProcess"), "needs hostNetwork true in the pod"))
	}
	return errs
}

func validateCredentialSpec(spec string, path *field.Path) field.ErrorList {
	if len(spec) > maxCredentialSpecBytes {
		return field.ErrorList{field.TooLong(path, spec, maxCredentialSpecBytes)}
	}
	return validate.Required(spec, path, "must be a credential spec, or left out")
}

// windowsUserNameProblem follows what Windows says of names, see
// https://learn.microsoft.com/troubleshoot/windows-server/active-directory/naming-conventions-for-computer-domain-site-ou.
func windowsUserNameProblem(name string) string {
	domain, user, qualified := strings.Cut(name, `\`)
	if !qualified {
		domain, user = "", name
	}
	switch {
	case controlChar.MatchString(name):
		return "it has control characters"
	case qualified && len(domain) > maxWindowsDomainLength:
		return fmt.Sprintf("the domain is longer than %d characters", maxWindowsDomainLength)
	case qualified && !netBIOSDomain.MatchString(domain) && !dnsDomain.MatchString(domain):
		return "the domain is neither a NetBIOS nor a DNS name"
	case user == "":
		return "it has no user"
	case len(user) > maxWindowsUserLength:
		return fmt.Sprintf("the user is longer than %d characters", maxWindowsUserLength)
	case strings.Trim(user, ". ") == "":
		return "the user has only dots and spaces"
	case strings.ContainsAny(user, windowsUserNameReserved):
		return "the user has one of the characters " + windowsUserNameReserved
	}
	return ""
}

// validateWindowsHostProcesses requires that either all containers of a Windows pod are processes of its node or none is.
func validateWindowsHostProcesses(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var ofPod *bool
	if context := spec.SecurityContext; context != nil {
		ofPod = hostProcessOf(context.WindowsOptions)
	}
	var errs field.ErrorList
	some := false
	visitContainers(spec, path, func(container *corev1.Container, _ *field.Path) {
		some = some || isHostProcess(container, ofPod)
	})
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		hostProcess := hostProcessOfContainer(container)
		containerPath = containerPath.Child("securityContext", "windowsOptions", "hostProcess")
		switch {
		case ofPod != nil && hostProcess != nil && *hostProcess != *ofPod:
			errs = append(errs, field.Invalid(containerPath, *hostProcess, "must be the same as in the pod's securityContext, or left out"))
		case some && !isHostProcess(container, ofPod):
			errs = append(errs, field.Invalid(containerPath, false, "must be true: other containers of the pod are host processes"))
		}
	})
	return errs
}

func isHostProcess(container *corev1.Container, ofPod *bool) bool {
	if own := hostProcessOfContainer(container); own != nil {
		return *own
	}
	return isTrue(ofPod)
}

func hostProcessOfContainer(container *corev1.Container) *bool {
	if container.SecurityContext == nil {
		return nil
	}
	return hostProcessOf(container.SecurityContext.WindowsOptions)
}

func hostProcessOf(options *corev1.WindowsSecurityContextOptions) *bool {
	if options == nil {
		return nil
	}
	return options.HostProcess
}
