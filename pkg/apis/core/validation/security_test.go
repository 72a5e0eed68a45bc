// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func security(context corev1.SecurityContext) func(*corev1.PodTemplateSpec) {
	return container(func(c *corev1.Container) { c.SecurityContext = &context })
}

func TestSecurityContext(t *testing.T) {
	escalation := []string{"Invalid value: spec.containers[1].securityContext.allowPrivilegeEscalation"}
	check(t, []row{
		{"a restricted container is accepted", security(corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](1000), RunAsGroup: ptr.To[int64](0),
			ReadOnlyRootFilesystem: ptr.To(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}), nil},
		{"a privileged container is accepted", security(corev1.SecurityContext{Privileged: ptr.To(true)}), nil},
		{"a privileged container escalates", security(corev1.SecurityContext{Privileged: ptr.To(true), AllowPrivilegeEscalation: ptr.To(false)}), escalation},
		{"a container with CAP_SYS_ADMIN escalates", security(corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"CAP_SYS_ADMIN"}},
		}), escalation},
		{"a user is not negative", security(corev1.SecurityContext{RunAsUser: ptr.To[int64](-1)}), []string{"Invalid value: spec.containers[1].securityContext.runAsUser"}},
		{"a group is not negative", security(corev1.SecurityContext{RunAsGroup: ptr.To[int64](-1)}), []string{"Invalid value: spec.containers[1].securityContext.runAsGroup"}},
		{"a user has 32 bits", security(corev1.SecurityContext{RunAsUser: ptr.To[int64](1 << 31)}), []string{"Invalid value: spec.containers[1].securityContext.runAsUser"}},

		{"procMount Default is accepted", security(corev1.SecurityContext{ProcMount: ptr.To(corev1.DefaultProcMount)}), nil},
		{"procMount Unmasked needs a user namespace", security(corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount)}),
			[]string{"Invalid value: spec.containers[1].securityContext.procMount"}},
		{"procMount None is refused", security(corev1.SecurityContext{ProcMount: ptr.To(corev1.ProcMountType("None"))}),
			[]string{"Unsupported value: spec.containers[1].securityContext.procMount"}},
		{"an init container's context is validated", before(func(c *corev1.Container) { c.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](-1)} }),
			[]string{"Invalid value: spec.initContainers[0].securityContext.runAsUser"}},
	})
}

func TestSecurityProfiles(t *testing.T) {
	seccomp := func(kind corev1.SeccompProfileType, file *string) func(*corev1.PodTemplateSpec) {
		return security(corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: kind, LocalhostProfile: file}})
	}
	appArmor := func(kind corev1.AppArmorProfileType, name *string) func(*corev1.PodTemplateSpec) {
		return security(corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: kind, LocalhostProfile: name}})
	}
	const seccompPath, appArmorPath = "spec.containers[1].securityContext.seccompProfile", "spec.containers[1].securityContext.appArmorProfile"
	check(t, []row{
		{"a seccomp profile of the node is accepted", seccomp(corev1.SeccompProfileTypeLocalhost, ptr.To("profiles/web.json")), nil},
		{"a seccomp profile has a type", seccomp("", nil), []string{"Unsupported value: " + seccompPath + ".type"}},
		{"a seccomp profile of the node is named", seccomp(corev1.SeccompProfileTypeLocalhost, nil), []string{"Required value: " + seccompPath + ".localhostProfile"}},
		{"a seccomp profile is in the node's folder", seccomp(corev1.SeccompProfileTypeLocalhost, ptr.To("/etc/web.json")), []string{"Invalid value: " + seccompPath + ".localhostProfile"}},
		{"a seccomp profile does not leave the node's folder", seccomp(corev1.SeccompProfileTypeLocalhost, ptr.To("../web.json")), []string{"Invalid value: " + seccompPath + ".localhostProfile"}},
		{"a default seccomp profile has no file", seccomp(corev1.SeccompProfileTypeRuntimeDefault, ptr.To("web.json")), []string{"Invalid value: " + seccompPath + ".localhostProfile"}},

		{"an AppArmor profile of the node is accepted", appArmor(corev1.AppArmorProfileTypeLocalhost, ptr.To("web")), nil},
		{"no AppArmor is accepted", appArmor(corev1.AppArmorProfileTypeUnconfined, nil), nil},
		{"an AppArmor profile has a type", appArmor("", nil), []string{"Unsupported value: " + appArmorPath + ".type"}},
		{"an AppArmor profile of the node is named", appArmor(corev1.AppArmorProfileTypeLocalhost, ptr.To("")), []string{"Required value: " + appArmorPath + ".localhostProfile"}},
		{"an AppArmor profile's name has no white space around it", appArmor(corev1.AppArmorProfileTypeLocalhost, ptr.To("web ")), []string{"Invalid value: " + appArmorPath + ".localhostProfile"}},
		{"an AppArmor profile's name is a path at most", appArmor(corev1.AppArmorProfileTypeLocalhost, ptr.To(strings.Repeat("a", 4096))), []string{"Too long: " + appArmorPath + ".localhostProfile"}},
		{"a default AppArmor profile has no name", appArmor(corev1.AppArmorProfileTypeRuntimeDefault, ptr.To("web")), []string{"Invalid value: " + appArmorPath + ".localhostProfile"}},
	})
}

func TestWindowsOptions(t *testing.T) {
	windows := func(options corev1.WindowsSecurityContextOptions) func(*corev1.PodTemplateSpec) {
		return security(corev1.SecurityContext{WindowsOptions: &options})
	}
	user := func(name string) func(*corev1.PodTemplateSpec) {
		return windows(corev1.WindowsSecurityContextOptions{RunAsUserName: &name})
	}
	const path = "spec.containers[1].securityContext.windowsOptions"
	userError := []string{"Invalid value: " + path + ".runAsUserName"}
	check(t, []row{
		{"a user is accepted", user("ContainerUser"), nil},
		{"a user of a DNS domain is accepted", user(`corp.example.com\web`), nil},
		{"a user of a NetBIOS domain is accepted", user(`NT AUTHORITY\SYSTEM`), nil},
		{"a user is not empty", user(""), userError},
		{"a domain has a user", user(`corp\`), userError},
		{"a user has one domain", user(`a\b\c`), userError},
		{"a user has at most 104 characters", user(strings.Repeat("a", 105)), userError},
		{"a user is more than dots and spaces", user(". ."), userError},
		{"a user has no reserved characters", user("a@b"), userError},
		{"a user has no control characters", user("a\tb"), userError},
		{"a domain has no reserved characters", user(`a:b\c`), userError},
		{"a domain has at most 255 characters", user(strings.Repeat("a.", 128) + `a\b`), userError},
		{"a credential spec is accepted", windows(corev1.WindowsSecurityContextOptions{GMSACredentialSpecName: ptr.To("web"), GMSACredentialSpec: ptr.To("{}")}), nil},
		{"a credential spec's name is a DNS name", windows(corev1.WindowsSecurityContextOptions{GMSACredentialSpecName: ptr.To("Web")}),
			[]string{"Invalid value: " + path + ".gmsaCredentialSpecName"}},
		{"a credential spec is not empty", windows(corev1.WindowsSecurityContextOptions{GMSACredentialSpec: ptr.To("")}), []string{"Required value: " + path + ".gmsaCredentialSpec"}},
		{"a credential spec has at most 64 KiB", windows(corev1.WindowsSecurityContextOptions{GMSACredentialSpec: ptr.To(strings.Repeat("a", 65537))}),
			[]string{"Too long: " + path + ".gmsaCredentialSpec"}},
		{"no host process is accepted", windows(corev1.WindowsSecurityContextOptions{HostProcess: ptr.To(false)}), nil},
		{"a host process needs the host's network", all(windows(corev1.WindowsSecurityContextOptions{HostProcess: ptr.To(true)}), podContainer(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: ptr.To(true)}}
		})), []string{"Forbidden: spec.containers[0].securityContext.windowsOptions.hostProcess", "Forbidden: " + path + ".hostProcess"}},
	})
}
