// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestPodTemplate(t *testing.T) {
	labels := func(key, value string) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) { template.Labels[key] = value }
	}
	finalizers := func(finalizers ...string) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) { template.Finalizers = finalizers }
	}
	check(t, []row{
		{"a template without defaults is accepted", func(*corev1.PodTemplateSpec) {}, nil},
		{"a label is accepted", labels("tier", "front"), nil},
		{"a label's key is qualified", labels("a b", ""), []string{"Invalid value: metadata.labels"}},
		{"a label's value is a label value", labels("tier", "a b"), []string{"Invalid value: metadata.labels"}},
		{"finalizers are accepted", finalizers("example.com/a", "example.com/b", "orphan"), nil},
		{"a finalizer has a domain", finalizers("a"), []string{"Invalid value: metadata.finalizers[0]"}},
		{"a finalizer is a qualified name", finalizers("example.com/a b"), []string{"Invalid value: metadata.finalizers"}},
		{"a finalizer is listed once", finalizers("example.com/a", "example.com/a"), []string{"Duplicate value: metadata.finalizers[1]"}},
	})
}

func TestPodContainers(t *testing.T) {
	ports := func(ports ...corev1.ContainerPort) func(*corev1.Container) {
		return func(c *corev1.Container) { c.Ports = ports }
	}
	check(t, []row{
		{"a pod has a container", pod(func(spec *corev1.PodSpec) { spec.Containers = nil }), []string{"Required value: spec.containers"}},
		{"a container has an image", beside(func(c *corev1.Container) { c.Image = "" }), []string{"Required value: spec.containers[1].image"}},
		{"an init container has an image", before(func(c *corev1.Container) { c.Image = "" }), []string{"Required value: spec.initContainers[0].image"}},
		{"a container has a name", beside(func(c *corev1.Container) { c.Name = "" }), []string{"Required value: spec.containers[1].name"}},
		{"a container has another name", beside(func(c *corev1.Container) { c.Name = "web" }), []string{"Duplicate value: spec.containers[1].name"}},
		{"an init container has another name", before(func(c *corev1.Container) { c.Name = "web" }), []string{"Duplicate value: spec.initContainers[0].name"}},
		{"a port's name is unique in the pod", beside(ports(corev1.ContainerPort{Name: "http", ContainerPort: 1})), []string{"Duplicate value: spec.containers[1].ports[0].name"}},
		{"a host port is taken once", all(podContainer(ports(corev1.ContainerPort{ContainerPort: 1, HostPort: 9})), beside(ports(corev1.ContainerPort{ContainerPort: 2, HostPort: 9}))),
			[]string{"Duplicate value: spec.containers[1].ports[0].hostPort"}},
		{"an init container that ends has no probes", before(func(c *corev1.Container) { c.LivenessProbe = &corev1.Probe{} }), []string{"Forbidden: spec.initContainers[0].livenessProbe"}},
		{"a probe may name a port of its container", podContainer(func(c *corev1.Container) {
			c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}}}
		}), nil},
		{"a mount has a volume", podContainer(func(c *corev1.Container) { c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}} }),
			[]string{"Not found: spec.containers[0].volumeMounts[0].name"}},
		{"a mount may be of any volume", all(
			podContainer(func(c *corev1.Container) { c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}} }),
			pod(func(spec *corev1.PodSpec) { spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: claim()}} }),
		), nil},
		{"a volume has one source", pod(func(spec *corev1.PodSpec) {
			source := claim()
			source.EmptyDir = &corev1.EmptyDirVolumeSource{}
			spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: source}}
		}), []string{"Forbidden: spec.volumes[0].persistentVolumeClaim"}},
		{"a volume is listed once", pod(func(spec *corev1.PodSpec) { spec.Volumes = []corev1.Volume{{Name: "data"}, {Name: "data"}} }),
			[]string{"Duplicate value: spec.volumes[1].name"}},
		{"ephemeral containers are none of a template", pod(func(spec *corev1.PodSpec) {
			spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "i"}}}
		}), []string{"Forbidden: spec.ephemeralContainers"}},
	})
}

func TestPodLifetime(t *testing.T) {
	sleep := func(seconds int64) func(*corev1.PodTemplateSpec) {
		return podContainer(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}}
		})
	}
	gracePeriod := func(seconds int64) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.TerminationGracePeriodSeconds = &seconds })
	}
	const sleepSeconds = "spec.containers[0].lifecycle.preStop.sleep.seconds"
	check(t, []row{
		{"restartPolicy Always is accepted", pod(func(spec *corev1.PodSpec) { spec.RestartPolicy = corev1.RestartPolicyAlways }), nil},
		{"restartPolicy Never is none of a Deployment", pod(func(spec *corev1.PodSpec) { spec.RestartPolicy = corev1.RestartPolicyNever }), []string{"Unsupported value: spec.restartPolicy"}},
		{"no grace period is accepted", gracePeriod(0), nil},
		{"a grace period is not negative", gracePeriod(-1), []string{"Invalid value: spec.terminationGracePeriodSeconds"}},
		{"a hook sleeps as long as the pod has by default", sleep(30), nil},
		{"a hook does not sleep longer than the pod has by default", sleep(31), []string{"Invalid value: " + sleepSeconds}},
		{"a hook sleeps as long as the pod has", all(gracePeriod(60), sleep(60)), nil},
		{"a hook does not sleep longer than the pod has", all(gracePeriod(10), sleep(11)), []string{"Invalid value: " + sleepSeconds}},
		{"the pods of a Deployment have no deadline", pod(func(spec *corev1.PodSpec) { spec.ActiveDeadlineSeconds = ptr.To[int64](1) }), []string{"Forbidden: spec.activeDeadlineSeconds"}},
	})
}

func TestPodAccounts(t *testing.T) {
	accounts := func(name, deprecated string) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.ServiceAccountName, spec.DeprecatedServiceAccount = name, deprecated })
	}
	check(t, []row{
		{"a service account is accepted", accounts("team.web", ""), nil},
		{"a service account's name is a DNS name", accounts("Web", ""), []string{"Invalid value: spec.serviceAccountName"}},
		{"a service account may have its deprecated name too", accounts("web", "web"), nil},
		{"a service account has one name", accounts("web", "other"), []string{"Invalid value: spec.serviceAccount"}},
		{"a service account may have its deprecated name only", accounts("", "web"), nil},
		{"a service account's deprecated name is a DNS name", accounts("", "Web"), []string{"Invalid value: spec.serviceAccount"}},
		{"the token may stay out", pod(func(spec *corev1.PodSpec) { spec.AutomountServiceAccountToken = ptr.To(false) }), nil},
		{"a pull secret has a name", pod(func(spec *corev1.PodSpec) { spec.ImagePullSecrets = []corev1.LocalObjectReference{{}} }), []string{"Required value: spec.imagePullSecrets[0].name"}},
	})
}
