// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestContainers(t *testing.T) {
	check(t, []row{
		{"a container is accepted", container(func(*corev1.Container) {}), nil},
		{"an init container is accepted", before(func(*corev1.Container) {}), nil},
		{"a container has free fields", container(func(c *corev1.Container) {
			c.Command, c.Args, c.WorkingDir, c.Stdin, c.StdinOnce, c.TTY = []string{"sh"}, []string{"-c"}, "/work", true, true, true
			c.TerminationMessagePath = "/dev/end"
		}), nil},

		{"a container has a name", container(func(c *corev1.Container) { c.Name = "" }), []string{"Required value: spec.containers[1].name"}},
		{"a container's name has at most 63 characters", container(func(c *corev1.Container) { c.Name = strings.Repeat("a", 64) }),
			[]string{"Invalid value: spec.containers[1].name"}},
		{"a container has another name than the main one", container(func(c *corev1.Container) { c.Name = "web" }), []string{"Duplicate value: spec.containers[1].name"}},
		{"an init container has another name than the main one", before(func(c *corev1.Container) { c.Name = "web" }),
			[]string{"Duplicate value: spec.initContainers[0].name"}},
		{"an init container has another name than a container", all(container(func(*corev1.Container) {}), before(func(c *corev1.Container) { c.Name = "side" })),
			[]string{"Duplicate value: spec.initContainers[0].name"}},
		{"init containers have different names", all(before(func(*corev1.Container) {}), before(func(*corev1.Container) {})),
			[]string{"Duplicate value: spec.initContainers[1].name"}},

		{"the main container has an image", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Image = "" }, []string{"Required value: spec.containers[0].image"}},
		{"an image of a registry with a port is accepted", func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].Image = "Registry.example.com:5000/team/web:v1_2.3-RC"
		}, nil},
		{"an image with a digest is accepted", func(template *corev1.PodTemplateSpec) {
			template.Spec.Containers[0].Image = "nginx:1.7.9@sha256:" + strings.Repeat("0", 64)
		}, nil},
		{"an image has no scheme", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Image = "https://nginx" }, []string{"Invalid value: spec.containers[0].image"}},
		{"an image has no white space in it", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Image = "nginx 1" }, []string{"Invalid value: spec.containers[0].image"}},
		{"an image has no empty tag", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Image = "nginx:" }, []string{"Invalid value: spec.containers[0].image"}},
		{"an image has no white space in front", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Image = " nginx" }, []string{"Invalid value: spec.containers[0].image"}},
		{"an image has no white space behind", func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Image = "nginx\n" }, []string{"Invalid value: spec.containers[0].image"}},
		{"a container has an image", container(func(c *corev1.Container) { c.Image = "" }), []string{"Required value: spec.containers[1].image"}},
		{"a container's image has no white space around it", container(func(c *corev1.Container) { c.Image = "a " }), []string{"Invalid value: spec.containers[1].image"}},
		{"an init container has an image", before(func(c *corev1.Container) { c.Image = "" }), []string{"Required value: spec.initContainers[0].image"}},

		{"imagePullPolicy Never is accepted", container(func(c *corev1.Container) { c.ImagePullPolicy = corev1.PullNever }), nil},
		{"imagePullPolicy Sometimes is refused", container(func(c *corev1.Container) { c.ImagePullPolicy = "Sometimes" }),
			[]string{"Unsupported value: spec.containers[1].imagePullPolicy"}},
		{"terminationMessagePolicy FallbackToLogsOnError is accepted",
			container(func(c *corev1.Container) { c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError }), nil},
		{"terminationMessagePolicy Log is refused", container(func(c *corev1.Container) { c.TerminationMessagePolicy = "Log" }),
			[]string{"Unsupported value: spec.containers[1].terminationMessagePolicy"}},
	})
}

func TestInitContainers(t *testing.T) {
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(9090)}}}
	hook := &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"stop"}}}}
	check(t, []row{
		{"a sidecar has probes and hooks", sidecar(func(c *corev1.Container) {
			c.ReadinessProbe, c.LivenessProbe, c.StartupProbe, c.Lifecycle = probe, probe, probe, hook
		}), nil},
		{"a sidecar's probe is validated", sidecar(func(c *corev1.Container) { c.LivenessProbe = &corev1.Probe{} }),
			[]string{"Required value: spec.initContainers[0].livenessProbe"}},
		{"an init container that ends has no probes and hooks", before(func(c *corev1.Container) {
			c.ReadinessProbe, c.LivenessProbe, c.StartupProbe, c.Lifecycle = probe, probe, probe, hook
		}), []string{
			"Forbidden: spec.initContainers[0].lifecycle", "Forbidden: spec.initContainers[0].readinessProbe",
			"Forbidden: spec.initContainers[0].livenessProbe", "Forbidden: spec.initContainers[0].startupProbe",
		}},
		{"a sidecar can be restarted to resize it", sidecar(resize(corev1.ResourceCPU, corev1.RestartContainer)), nil},
		{"an init container that ends cannot be restarted to resize it", before(resize(corev1.ResourceCPU, corev1.RestartContainer)),
			[]string{"Invalid value: spec.initContainers[0].resizePolicy[0].restartPolicy"}},
		{"an init container that ends can be resized in place", before(resize(corev1.ResourceCPU, corev1.NotRequired)), nil},
	})
}

func TestContainerPorts(t *testing.T) {
	containerPorts := func(ports ...corev1.ContainerPort) func(*corev1.Container) {
		return func(c *corev1.Container) { c.Ports = ports }
	}
	check(t, []row{
		{"a container port without a protocol is TCP", container(containerPorts(corev1.ContainerPort{ContainerPort: 9090})), nil},
		{"a container port is 1 or more", container(containerPorts(corev1.ContainerPort{})), []string{"Invalid value: spec.containers[1].ports[0].containerPort"}},
		{"a container port is 65535 or less", container(containerPorts(corev1.ContainerPort{ContainerPort: 65536})),
			[]string{"Invalid value: spec.containers[1].ports[0].containerPort"}},
		{"a container port's protocol is known", container(containerPorts(corev1.ContainerPort{ContainerPort: 1, Protocol: "tcp"})),
			[]string{"Unsupported value: spec.containers[1].ports[0].protocol"}},
		{"a container port's name is short", container(containerPorts(corev1.ContainerPort{ContainerPort: 1, Name: "abcdefghijklmnop"})),
			[]string{"Invalid value: spec.containers[1].ports[0].name"}},
		{"a container port is listed once for each protocol",
			container(containerPorts(corev1.ContainerPort{ContainerPort: 53}, corev1.ContainerPort{ContainerPort: 53, Protocol: corev1.ProtocolUDP})), nil},
		{"a container port is listed once",
			container(containerPorts(corev1.ContainerPort{ContainerPort: 53, Name: "a"}, corev1.ContainerPort{ContainerPort: 53, Name: "b", Protocol: corev1.ProtocolTCP})),
			[]string{"Duplicate value: spec.containers[1].ports[1]"}},
		{"a port name is unique in a container", container(containerPorts(corev1.ContainerPort{ContainerPort: 1, Name: "a"}, corev1.ContainerPort{ContainerPort: 2, Name: "a"})),
			[]string{"Duplicate value: spec.containers[1].ports[1].name"}},
		{"a port name is unique in the pod", all(container(func(*corev1.Container) {}), container(func(c *corev1.Container) { c.Name = "other" })),
			[]string{"Duplicate value: spec.containers[2].ports[0].name"}},
		{"a port name is unique among sidecars too", all(container(func(*corev1.Container) {}), sidecar(func(c *corev1.Container) { c.Name = "other" })),
			[]string{"Duplicate value: spec.initContainers[0].ports[0].name"}},

		{"a host port is accepted", container(containerPorts(corev1.ContainerPort{ContainerPort: 1, HostPort: 8080})), nil},
		{"a host port is not negative", container(containerPorts(corev1.ContainerPort{ContainerPort: 1, HostPort: -1})),
			[]string{"Invalid value: spec.containers[1].ports[0].hostPort"}},
		{"a host port is 65535 or less", container(containerPorts(corev1.ContainerPort{ContainerPort: 1, HostPort: 65536})),
			[]string{"Invalid value: spec.containers[1].ports[0].hostPort"}},
		{"a host port is taken once in the pod", all(
			container(containerPorts(corev1.ContainerPort{ContainerPort: 1, HostPort: 8080})),
			container(func(c *corev1.Container) {
				c.Name, c.Ports = "other", []corev1.ContainerPort{{ContainerPort: 2, HostPort: 8080}}
			}),
		), []string{"Duplicate value: spec.containers[2].ports[0].hostPort"}},
		{"a host port is taken once for each address", container(containerPorts(
			corev1.ContainerPort{ContainerPort: 1, HostPort: 8080, HostIP: "10.0.0.1"}, corev1.ContainerPort{ContainerPort: 2, HostPort: 8080, HostIP: "10.0.0.2"})), nil},
		{"init containers take the same host port in turn", all(
			before(containerPorts(corev1.ContainerPort{ContainerPort: 1, HostPort: 8080})),
			before(func(c *corev1.Container) {
				c.Name, c.Ports = "other", []corev1.ContainerPort{{ContainerPort: 2, HostPort: 8080}}
			}),
		), nil},
		{"an init container takes a host port once", before(containerPorts(
			corev1.ContainerPort{ContainerPort: 1, HostPort: 8080}, corev1.ContainerPort{ContainerPort: 2, HostPort: 8080})),
			[]string{"Duplicate value: spec.initContainers[0].ports[1].hostPort"}},
	})
}

func TestRestartAndResize(t *testing.T) {
	restart := func(policy corev1.ContainerRestartPolicy, rules ...corev1.ContainerRestartRule) func(*corev1.Container) {
		return func(c *corev1.Container) { c.RestartPolicy, c.RestartPolicyRules = &policy, rules }
	}
	rule := func(change func(*corev1.ContainerRestartRule)) corev1.ContainerRestartRule {
		r := corev1.ContainerRestartRule{
			Action:    corev1.ContainerRestartRuleActionRestart,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
		}
		change(&r)
		return r
	}
	same := func(*corev1.ContainerRestartRule) {}
	check(t, []row{
		{"a container that is not restarted is accepted", container(restart(corev1.ContainerRestartPolicyNever)), nil},
		{"an init container that is restarted on failure is accepted", before(restart(corev1.ContainerRestartPolicyOnFailure)), nil},
		{"restartPolicy Sometimes is refused", container(restart("Sometimes")), []string{"Unsupported value: spec.containers[1].restartPolicy"}},
		{"restart rules are accepted", container(restart(corev1.ContainerRestartPolicyNever, rule(same))), nil},
		{"restart rules of a sidecar are accepted", sidecar(func(c *corev1.Container) { c.RestartPolicyRules = []corev1.ContainerRestartRule{rule(same)} }), nil},
		{"restart rules need a restartPolicy", container(func(c *corev1.Container) { c.RestartPolicyRules = []corev1.ContainerRestartRule{rule(same)} }),
			[]string{"Required value: spec.containers[1].restartPolicy"}},
		{"restart rules are at most 20", container(func(c *corev1.Container) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
			for range 21 {
				c.RestartPolicyRules = append(c.RestartPolicyRules, rule(same))
			}
		}), []string{"Too many: spec.containers[1].restartPolicyRules"}},
		{"a restart rule may restart all containers", container(restart(corev1.ContainerRestartPolicyNever,
			rule(func(r *corev1.ContainerRestartRule) { r.Action = corev1.ContainerRestartRuleActionRestartAllContainers }))), nil},
		{"a restart rule does not kill", container(restart(corev1.ContainerRestartPolicyNever, rule(func(r *corev1.ContainerRestartRule) { r.Action = "Kill" }))),
			[]string{"Unsupported value: spec.containers[1].restartPolicyRules[0].action"}},
		{"a restart rule is for exit codes", container(restart(corev1.ContainerRestartPolicyNever, rule(func(r *corev1.ContainerRestartRule) { r.ExitCodes = nil }))),
			[]string{"Required value: spec.containers[1].restartPolicyRules[0].exitCodes"}},
		{"a restart rule takes exit codes In or NotIn", container(restart(corev1.ContainerRestartPolicyNever, rule(func(r *corev1.ContainerRestartRule) { r.ExitCodes.Operator = "Is" }))),
			[]string{"Unsupported value: spec.containers[1].restartPolicyRules[0].exitCodes.operator"}},
		{"a restart rule takes 255 exit codes", container(restart(corev1.ContainerRestartPolicyNever, rule(func(r *corev1.ContainerRestartRule) { r.ExitCodes.Values = exitCodes(255) }))), nil},
		{"a restart rule has each exit code once", container(restart(corev1.ContainerRestartPolicyNever, rule(func(r *corev1.ContainerRestartRule) { r.ExitCodes.Values = []int32{0, 1, 0, 1} }))),
			[]string{"Duplicate value: spec.containers[1].restartPolicyRules[0].exitCodes.values[2]", "Duplicate value: spec.containers[1].restartPolicyRules[0].exitCodes.values[3]"}},
		{"a restart rule has at most 255 exit codes", container(restart(corev1.ContainerRestartPolicyNever, rule(func(r *corev1.ContainerRestartRule) { r.ExitCodes.Values = exitCodes(256) }))),
			[]string{"Too many: spec.containers[1].restartPolicyRules[0].exitCodes.values"}},

		{"memory can be resized in place", container(resize(corev1.ResourceMemory, corev1.NotRequired)), nil},
		{"storage cannot be resized", container(resize(corev1.ResourceEphemeralStorage, corev1.NotRequired)),
			[]string{"Unsupported value: spec.containers[1].resizePolicy[0].resourceName"}},
		{"a resize policy restarts or does not", container(resize(corev1.ResourceMemory, "Maybe")),
			[]string{"Unsupported value: spec.containers[1].resizePolicy[0].restartPolicy"}},
		{"a resource has one resize policy", container(func(c *corev1.Container) {
			resize(corev1.ResourceMemory, corev1.NotRequired)(c)
			resize(corev1.ResourceMemory, corev1.RestartContainer)(c)
		}), []string{"Duplicate value: spec.containers[1].resizePolicy[1].resourceName"}},
	})
}

func resize(name corev1.ResourceName, policy corev1.ResourceResizeRestartPolicy) func(*corev1.Container) {
	return func(c *corev1.Container) {
		c.ResizePolicy = append(c.ResizePolicy, corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: policy})
	}
}

// exitCodes returns that many different ones.
func exitCodes(count int) []int32 {
	codes := make([]int32, count)
	for i := range codes {
		codes[i] = int32(i)
	}
	return codes
}
