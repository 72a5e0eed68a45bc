// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func hostNetwork(spec *corev1.PodSpec) { spec.HostNetwork = true }

func ownUsers(spec *corev1.PodSpec) { spec.HostUsers = ptr.To(false) }

func TestHostNamespaces(t *testing.T) {
	ports := func(ports ...corev1.ContainerPort) func(*corev1.Container) {
		return func(c *corev1.Container) { c.Ports = ports }
	}
	check(t, []row{
		{"the host's namespaces are accepted", pod(func(spec *corev1.PodSpec) { spec.HostNetwork, spec.HostPID, spec.HostIPC = true, true, true }), nil},
		{"a port on the host's network is itself", all(pod(hostNetwork), podContainer(ports(corev1.ContainerPort{ContainerPort: 80, HostPort: 80}))), nil},
		{"a port on the host's network is no other", all(pod(hostNetwork), podContainer(ports(corev1.ContainerPort{ContainerPort: 80, HostPort: 8080}))),
			[]string{"Invalid value: spec.containers[0].ports[0].hostPort"}},
		{"a port on the host's network is taken once", all(pod(hostNetwork), beside(ports(corev1.ContainerPort{ContainerPort: 8080}))),
			[]string{"Duplicate value: spec.containers[1].ports[0].containerPort"}},
		{"a port on the host's network is taken once for each protocol", all(pod(hostNetwork), beside(ports(corev1.ContainerPort{ContainerPort: 8080, Protocol: corev1.ProtocolUDP}))), nil},
		{"a port of the pod's own network is free", beside(ports(corev1.ContainerPort{ContainerPort: 8080})), nil},
		{"processes are shared in the pod", pod(func(spec *corev1.PodSpec) { spec.ShareProcessNamespace = ptr.To(true) }), nil},
		{"processes are shared in the pod or with the host", pod(func(spec *corev1.PodSpec) { spec.HostPID, spec.ShareProcessNamespace = true, ptr.To(true) }),
			[]string{"Invalid value: spec.shareProcessNamespace"}},

		{"a pod may have its own users", pod(ownUsers), nil},
		{"a pod with its own users is not on the host's network", pod(func(spec *corev1.PodSpec) { spec.HostUsers, spec.HostNetwork = ptr.To(false), true }), []string{"Forbidden: spec.hostNetwork"}},
		{"a pod with its own users shares nothing with the host", pod(func(spec *corev1.PodSpec) { spec.HostUsers, spec.HostPID, spec.HostIPC = ptr.To(false), true, true }),
			[]string{"Forbidden: spec.hostPID", "Forbidden: spec.hostIPC"}},
		{"a pod with its own users has no block devices", all(pod(ownUsers), pod(func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: claim()}}
		}), podContainer(func(c *corev1.Container) {
			c.VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/a"}}
		})),
			[]string{"Forbidden: spec.containers[0].volumeDevices"}},
		{"procMount Unmasked needs a user namespace", podContainer(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount)}
		}),
			[]string{"Invalid value: spec.containers[0].securityContext.procMount"}},
		{"procMount Unmasked is accepted in a user namespace", all(pod(ownUsers),
			podContainer(func(c *corev1.Container) {
				c.SecurityContext = &corev1.SecurityContext{ProcMount: ptr.To(corev1.UnmaskedProcMount)}
			})), nil},
	})
}

func TestHostProcesses(t *testing.T) {
	options := func(hostProcess bool) *corev1.WindowsSecurityContextOptions {
		return &corev1.WindowsSecurityContextOptions{HostProcess: &hostProcess}
	}
	ofPod := func(hostProcess bool) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.SecurityContext = &corev1.PodSecurityContext{WindowsOptions: options(hostProcess)}
		})
	}
	ofContainer := func(hostProcess bool) func(*corev1.Container) {
		return func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{WindowsOptions: options(hostProcess)}
		}
	}
	const field = "securityContext.windowsOptions.hostProcess"
	check(t, []row{
		{"host processes are accepted", all(pod(hostNetwork), ofPod(true), beside(ofContainer(true))), nil},
		{"a host process is on the host's network", ofPod(true), []string{"Forbidden: spec." + field}},
		{"a container's host process is on the host's network", podContainer(ofContainer(true)), []string{"Forbidden: spec.containers[0]." + field}},
		{"a container does not differ from the pod", all(pod(hostNetwork), ofPod(false), podContainer(ofContainer(true))), []string{"Invalid value: spec.containers[0]." + field}},
		{"all containers are host processes", all(pod(hostNetwork), podContainer(ofContainer(true)), beside(func(*corev1.Container) {})), []string{"Invalid value: spec.containers[1]." + field}},
		{"all init containers are host processes", all(pod(hostNetwork), podContainer(ofContainer(true)), before(ofContainer(false))), []string{"Invalid value: spec.initContainers[0]." + field}},
	})
}

func TestPodSecurityContext(t *testing.T) {
	context := func(context corev1.PodSecurityContext) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.SecurityContext = &context })
	}
	sysctls := func(names ...string) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.SecurityContext = &corev1.PodSecurityContext{}
			for _, name := range names {
				spec.SecurityContext.Sysctls = append(spec.SecurityContext.Sysctls, corev1.Sysctl{Name: name, Value: "1"})
			}
		})
	}
	hostIPC := pod(func(spec *corev1.PodSpec) { spec.HostIPC = true })
	const path = "spec.securityContext."
	sysctlError := []string{"Invalid value: " + path + "sysctls[0].name"}
	check(t, []row{
		{"users and groups are accepted", context(corev1.PodSecurityContext{
			RunAsUser: ptr.To[int64](1000), RunAsGroup: ptr.To[int64](0), RunAsNonRoot: ptr.To(true), FSGroup: ptr.To[int64](2000), SupplementalGroups: []int64{1, 2},
			FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch), SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicyStrict),
			SELinuxChangePolicy: ptr.To(corev1.SELinuxChangePolicyRecursive), SELinuxOptions: &corev1.SELinuxOptions{Level: "s0"},
		}), nil},
		{"a user is not negative", context(corev1.PodSecurityContext{RunAsUser: ptr.To[int64](-1)}), []string{"Invalid value: " + path + "runAsUser"}},
		{"a group is not negative", context(corev1.PodSecurityContext{RunAsGroup: ptr.To[int64](-1)}), []string{"Invalid value: " + path + "runAsGroup"}},
		{"a group of files has 32 bits", context(corev1.PodSecurityContext{FSGroup: ptr.To[int64](1 << 31)}), []string{"Invalid value: " + path + "fsGroup"}},
		{"a supplemental group is not negative", context(corev1.PodSecurityContext{SupplementalGroups: []int64{1, -1}}), []string{"Invalid value: " + path + "supplementalGroups[1]"}},
		{"files change their group always or where it differs", context(corev1.PodSecurityContext{FSGroupChangePolicy: ptr.To(corev1.PodFSGroupChangePolicy("Never"))}),
			[]string{"Unsupported value: " + path + "fsGroupChangePolicy"}},
		{"supplemental groups are merged or not", context(corev1.PodSecurityContext{SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicy("None"))}),
			[]string{"Unsupported value: " + path + "supplementalGroupsPolicy"}},
		{"SELinux labels of a mount are not supported yet", context(corev1.PodSecurityContext{SELinuxChangePolicy: ptr.To(corev1.SELinuxChangePolicyMountOption)}),
			[]string{"Unsupported value: " + path + "seLinuxChangePolicy"}},
		{"a seccomp profile is validated", context(corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{}}), []string{"Unsupported value: " + path + "seccompProfile.type"}},
		{"an AppArmor profile is validated", context(corev1.PodSecurityContext{AppArmorProfile: &corev1.AppArmorProfile{}}), []string{"Unsupported value: " + path + "appArmorProfile.type"}},
		{"a user of Windows is validated", context(corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{RunAsUserName: ptr.To("")}}),
			[]string{"Invalid value: " + path + "windowsOptions.runAsUserName"}},

		{"sysctls are accepted in both forms", sysctls("net.core.somaxconn", "kernel/shm_rmid_forced", "net/ipv4/conf/eno2.100/rp_filter"), nil},
		{"a sysctl has a name", sysctls(""), []string{"Required value: " + path + "sysctls[0].name"}},
		{"a sysctl's name has no upper case letters", sysctls("Net"), sysctlError},
		{"a sysctl's name has at most 253 characters", sysctls("a." + strings.Repeat("a", 252)), sysctlError},
		{"a sysctl is listed once", sysctls("kernel.sem", "kernel.sem"), []string{"Duplicate value: " + path + "sysctls[1].name"}},
		{"a sysctl is not one of the host's network", all(pod(hostNetwork), sysctls("net.core.somaxconn")), sysctlError},
		{"a sysctl with slashes is not one of the host's network", all(pod(hostNetwork), sysctls("net/core/somaxconn")), sysctlError},
		{"a sysctl is not one of the host's shared memory", all(hostIPC, sysctls("kernel.shmmax")), sysctlError},
		{"a sysctl is not one of the host's message queues", all(hostIPC, sysctls("fs.mqueue.msg_max")), sysctlError},
		{"a sysctl of another namespace is accepted", all(hostIPC, sysctls("net.core.somaxconn")), nil},
	})
}

func TestOperatingSystem(t *testing.T) {
	system := func(name corev1.OSName) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.OS = &corev1.PodOS{Name: name} })
	}
	linux, windows := system(corev1.Linux), system(corev1.Windows)
	signal := func(signal corev1.Signal) func(*corev1.PodTemplateSpec) {
		return podContainer(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{StopSignal: &signal} })
	}
	context := func(context corev1.PodSecurityContext) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.SecurityContext = &context })
	}
	containerContext := func(context corev1.SecurityContext) func(*corev1.PodTemplateSpec) {
		return podContainer(func(c *corev1.Container) { c.SecurityContext = &context })
	}
	options := &corev1.WindowsSecurityContextOptions{RunAsUserName: ptr.To("web")}
	seccomp := &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	appArmor := &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	const ofPod, ofContainer = "Forbidden: spec.securityContext.", "Forbidden: spec.containers[0].securityContext."
	check(t, []row{
		{"linux is accepted", linux, nil},
		{"windows is accepted", all(windows, context(corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), WindowsOptions: options})), nil},
		{"a system has a name", system(""), []string{"Required value: spec.os.name"}},
		{"a system is one of those there are", system("plan9"), []string{"Unsupported value: spec.os.name"}},
		{"options for Windows need no system", containerContext(corev1.SecurityContext{WindowsOptions: options}), nil},
		{"linux has no options for Windows", all(linux, context(corev1.PodSecurityContext{WindowsOptions: options}), containerContext(corev1.SecurityContext{WindowsOptions: options})),
			[]string{ofPod + "windowsOptions", ofContainer + "windowsOptions"}},
		{"windows has no namespaces", all(windows, pod(func(spec *corev1.PodSpec) {
			spec.HostPID, spec.HostIPC, spec.HostUsers, spec.ShareProcessNamespace = true, true, ptr.To(true), ptr.To(false)
		})), []string{"Forbidden: spec.hostUsers", "Forbidden: spec.hostPID", "Forbidden: spec.hostIPC", "Forbidden: spec.shareProcessNamespace"}},
		{"windows has no resources of a pod", all(windows, pod(func(spec *corev1.PodSpec) { spec.Resources = &corev1.ResourceRequirements{} })), []string{"Forbidden: spec.resources"}},
		{"windows has no security of Linux in a pod", all(windows, context(corev1.PodSecurityContext{
			AppArmorProfile: appArmor, SELinuxOptions: &corev1.SELinuxOptions{}, SeccompProfile: seccomp, FSGroup: ptr.To[int64](1),
			FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeAlways), Sysctls: []corev1.Sysctl{{Name: "kernel.sem"}}, RunAsUser: ptr.To[int64](1), RunAsGroup: ptr.To[int64](1),
			SupplementalGroups: []int64{1}, SupplementalGroupsPolicy: ptr.To(corev1.SupplementalGroupsPolicyMerge), SELinuxChangePolicy: ptr.To(corev1.SELinuxChangePolicyRecursive),
		})), []string{
			ofPod + "appArmorProfile", ofPod + "seLinuxOptions", ofPod + "seccompProfile", ofPod + "fsGroup", ofPod + "fsGroupChangePolicy", ofPod + "sysctls",
			ofPod + "runAsUser", ofPod + "runAsGroup", ofPod + "supplementalGroups", ofPod + "supplementalGroupsPolicy", ofPod + "seLinuxChangePolicy",
		}},
		{"windows has no security of Linux in a container", all(windows, containerContext(corev1.SecurityContext{
			AppArmorProfile: appArmor, SELinuxOptions: &corev1.SELinuxOptions{}, SeccompProfile: seccomp, Capabilities: &corev1.Capabilities{}, ReadOnlyRootFilesystem: ptr.To(true),
			Privileged: ptr.To(false), AllowPrivilegeEscalation: ptr.To(true), ProcMount: ptr.To(corev1.DefaultProcMount), RunAsUser: ptr.To[int64](1), RunAsGroup: ptr.To[int64](1),
		})), []string{
			ofContainer + "appArmorProfile", ofContainer + "seLinuxOptions", ofContainer + "seccompProfile", ofContainer + "capabilities", ofContainer + "readOnlyRootFilesystem",
			ofContainer + "privileged", ofContainer + "allowPrivilegeEscalation", ofContainer + "procMount", ofContainer + "runAsUser", ofContainer + "runAsGroup",
		}},
		{"windows has no security of Linux in an init container", all(windows, before(func(c *corev1.Container) { c.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](1)} })),
			[]string{"Forbidden: spec.initContainers[0].securityContext.runAsUser"}},

		{"a stop signal of Linux is accepted", all(linux, signal(corev1.SIGUSR1)), nil},
		{"a real-time stop signal is accepted", all(linux, signal(corev1.SIGRTMINPLUS15)), nil},
		{"a stop signal of Windows is accepted", all(windows, signal(corev1.SIGTERM)), nil},
		{"a stop signal is one that there is", all(linux, signal("SIGOTHER")), []string{"Unsupported value: spec.containers[0].lifecycle.stopSignal"}},
		{"a stop signal is one of the system", all(windows, signal(corev1.SIGUSR1)), []string{"Unsupported value: spec.containers[0].lifecycle.stopSignal"}},
		{"a stop signal needs a system", signal(corev1.SIGTERM), []string{"Forbidden: spec.containers[0].lifecycle.stopSignal"}},
	})
}

func TestHostnames(t *testing.T) {
	override := func(name string) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.HostnameOverride = &name })
	}
	aliases := func(aliases ...corev1.HostAlias) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.HostAliases = aliases })
	}
	check(t, []row{
		{"a hostname and a subdomain are accepted", pod(func(spec *corev1.PodSpec) {
			spec.Hostname, spec.Subdomain, spec.SetHostnameAsFQDN = "web", "web", ptr.To(true)
		}), nil},
		{"a hostname is a DNS label", pod(func(spec *corev1.PodSpec) { spec.Hostname = "a.b" }), []string{"Invalid value: spec.hostname"}},
		{"a subdomain is a DNS label", pod(func(spec *corev1.PodSpec) { spec.Subdomain = "a.b" }), []string{"Invalid value: spec.subdomain"}},
		{"a full hostname is accepted", override("a.b"), nil},
		{"a full hostname is not empty", override(""), []string{"Required value: spec.hostnameOverride"}},
		{"a full hostname is a DNS name", override("A"), []string{"Invalid value: spec.hostnameOverride"}},
		{"a full hostname has at most 64 characters", override("a." + strings.Repeat("a", 63)), []string{"Too long: spec.hostnameOverride"}},
		{"a full hostname is not set in another way", all(override("a"), pod(func(spec *corev1.PodSpec) { spec.SetHostnameAsFQDN = ptr.To(true) })), []string{"Forbidden: spec.hostnameOverride"}},
		{"a full hostname in the network of the host", all(override("a"), pod(hostNetwork)), []string{"Forbidden: spec.hostnameOverride"}},
		{"aliases are accepted", aliases(corev1.HostAlias{IP: "10.0.0.1", Hostnames: []string{"a", "b.c"}}, corev1.HostAlias{IP: "::1"}), nil},
		{"an alias has an address", aliases(corev1.HostAlias{IP: "web"}), []string{"Invalid value: spec.hostAliases[0].ip"}},
		{"an alias's address has no leading zeros", aliases(corev1.HostAlias{IP: "10.0.0.01"}), []string{"Invalid value: spec.hostAliases[0].ip"}},
		{"an alias's address is listed once", aliases(corev1.HostAlias{IP: "::1"}, corev1.HostAlias{IP: "::1"}), []string{"Duplicate value: spec.hostAliases[1].ip"}},
		{"an alias is a DNS name", aliases(corev1.HostAlias{IP: "::1", Hostnames: []string{"a", "a b"}}), []string{"Invalid value: spec.hostAliases[0].hostnames[1]"}},
	})
}

func TestDNS(t *testing.T) {
	config := func(policy corev1.DNSPolicy, config corev1.PodDNSConfig) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.DNSPolicy, spec.DNSConfig = policy, &config })
	}
	check(t, []row{
		{"dnsPolicy Default is accepted", pod(func(spec *corev1.PodSpec) { spec.DNSPolicy = corev1.DNSDefault }), nil},
		{"dnsPolicy is one of those there are", pod(func(spec *corev1.PodSpec) { spec.DNSPolicy = "Host" }), []string{"Unsupported value: spec.dnsPolicy"}},
		{"dnsPolicy None is accepted with a nameserver", config(corev1.DNSNone, corev1.PodDNSConfig{Nameservers: []string{"10.0.0.1"}}), nil},
		{"dnsPolicy None needs a configuration", pod(func(spec *corev1.PodSpec) { spec.DNSPolicy = corev1.DNSNone }), []string{"Required value: spec.dnsConfig.nameservers"}},
		{"dnsPolicy None needs a nameserver", config(corev1.DNSNone, corev1.PodDNSConfig{}), []string{"Required value: spec.dnsConfig.nameservers"}},
		{"a nameserver is an address", config("", corev1.PodDNSConfig{Nameservers: []string{"a"}}), []string{"Invalid value: spec.dnsConfig.nameservers[0]"}},
		{"nameservers are at most 3", config("", corev1.PodDNSConfig{Nameservers: []string{"::1", "::2", "::3", "::4"}}), []string{"Too many: spec.dnsConfig.nameservers"}},
		{"searches are accepted", config("", corev1.PodDNSConfig{Searches: []string{".", "_tcp.example.com", "example.com."}}), nil},
		{"a search is a DNS name", config("", corev1.PodDNSConfig{Searches: []string{"a b"}}), []string{"Invalid value: spec.dnsConfig.searches[0]"}},
		{"searches are at most 32", config("", corev1.PodDNSConfig{Searches: slices.Repeat([]string{"a"}, 33)}), []string{"Too many: spec.dnsConfig.searches"}},
		{"searches have at most 2048 characters", config("", corev1.PodDNSConfig{Searches: slices.Repeat([]string{strings.Repeat("a.", 99) + "a"}, 11)}), []string{"Invalid value: spec.dnsConfig.searches"}},
		{"an option is accepted", config("", corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Name: "ndots", Value: ptr.To("2")}}}), nil},
		{"an option has a name", config("", corev1.PodDNSConfig{Options: []corev1.PodDNSConfigOption{{Value: ptr.To("2")}}}), []string{"Required value: spec.dnsConfig.options[0].name"}},
	})
}
