// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// annotated adds an annotation to the pods.
func annotated(key, value string) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) { template.Annotations = map[string]string{key: value} }
}

func TestPodAnnotations(t *testing.T) {
	const cost, tolerations = "controller.kubernetes.io/pod-deletion-cost", "scheduler.alpha.kubernetes.io/tolerations"
	check(t, []row{
		{"an annotation is accepted", annotated("example.com/a", "anything at all"), nil},
		{"an annotation's key is qualified", annotated("a b", ""), []string{"Invalid value: metadata.annotations"}},
		{"a deletion cost is accepted", annotated(cost, "-10"), nil},
		{"a deletion cost of nothing is accepted", annotated(cost, "0"), nil},
		{"a deletion cost is a number", annotated(cost, ""), []string{"Invalid value: metadata.annotations[" + cost + "]"}},
		{"a deletion cost has no plus", annotated(cost, "+1"), []string{"Invalid value: metadata.annotations[" + cost + "]"}},
		{"a deletion cost has no leading zeros", annotated(cost, "01"), []string{"Invalid value: metadata.annotations[" + cost + "]"}},
		{"a deletion cost has 32 bits", annotated(cost, "2147483648"), []string{"Invalid value: metadata.annotations[" + cost + "]"}},
		{"tolerations are accepted", annotated(tolerations, `[{"key":"a","operator":"Exists"}]`), nil},
		{"no tolerations are accepted", annotated(tolerations, ""), nil},
		{"tolerations are JSON", annotated(tolerations, "a"), []string{"Invalid value: metadata.annotations[" + tolerations + "]"}},
		{"tolerations are validated", annotated(tolerations, `[{"key":"a b"}]`), []string{"Invalid value: metadata.annotations[" + tolerations + "][0].key"}},
		{"a pod is not a node's own", annotated("kubernetes.io/config.mirror", ""), []string{"Forbidden: metadata.annotations[kubernetes.io/config.mirror]"}},
	})
}

func TestSeccompAnnotations(t *testing.T) {
	const ofPod, ofContainer = "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/web"
	profile := func(kind corev1.SeccompProfileType, file *string) *corev1.SeccompProfile {
		return &corev1.SeccompProfile{Type: kind, LocalhostProfile: file}
	}
	inPod := func(profile *corev1.SeccompProfile) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: profile} })
	}
	inContainer := func(profile *corev1.SeccompProfile) func(*corev1.PodTemplateSpec) {
		return podContainer(func(c *corev1.Container) { c.SecurityContext = &corev1.SecurityContext{SeccompProfile: profile} })
	}
	podError, containerError := []string{"Invalid value: metadata.annotations[" + ofPod + "]"}, []string{"Invalid value: metadata.annotations[" + ofContainer + "]"}
	check(t, []row{
		{"a pod's profile is accepted", annotated(ofPod, "localhost/profiles/web.json"), nil},
		{"a pod's profile is one that there is", annotated(ofPod, "other"), podError},
		{"a pod's profile is in the node's folder", annotated(ofPod, "localhost//etc/web.json"), podError},
		{"a pod's profile equals the profile of its context", all(annotated(ofPod, "unconfined"), inPod(profile(corev1.SeccompProfileTypeRuntimeDefault, nil))), podError},
		{"a pod's profile may be given twice", all(annotated(ofPod, "docker/default"), inPod(profile(corev1.SeccompProfileTypeRuntimeDefault, nil))), nil},
		{"a container's profile is accepted", annotated(ofContainer, "runtime/default"), nil},
		{"a container's profile is one that there is", annotated(ofContainer, ""), containerError},
		{"a container's profile equals the profile of its context", all(annotated(ofContainer, "localhost/a"), inContainer(profile(corev1.SeccompProfileTypeLocalhost, ptr.To("b")))), containerError},
		{"a container's profile may be given twice", all(annotated(ofContainer, "localhost/a"), inContainer(profile(corev1.SeccompProfileTypeLocalhost, ptr.To("a")))), nil},
	})
}

func TestAppArmorAnnotations(t *testing.T) {
	const key, other = "container.apparmor.security.beta.kubernetes.io/web", "container.apparmor.security.beta.kubernetes.io/other"
	inPod := func(kind corev1.AppArmorProfileType) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.SecurityContext = &corev1.PodSecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: kind}}
		})
	}
	inContainer := func(name string) func(*corev1.PodTemplateSpec) {
		return podContainer(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}}
		})
	}
	want := []string{"Invalid value: metadata.annotations[" + key + "]"}
	check(t, []row{
		{"a profile is accepted", annotated(key, "localhost/web"), nil},
		{"an empty profile is accepted", annotated(key, ""), nil},
		{"a profile is one that there is", annotated(key, "other"), want},
		{"a profile is for a container", annotated(other, "unconfined"), []string{"Invalid value: metadata.annotations[" + other + "]"}},
		{"a profile equals the profile of the pod", all(annotated(key, "unconfined"), inPod(corev1.AppArmorProfileTypeRuntimeDefault)), want},
		{"a profile may equal the profile of the pod", all(annotated(key, "runtime/default"), inPod(corev1.AppArmorProfileTypeRuntimeDefault)), nil},
		{"a profile equals the profile of the container", all(annotated(key, "localhost/a"), inContainer("b")), want},
		{"a container's profile goes before the pod's", all(annotated(key, "localhost/a"), inPod(corev1.AppArmorProfileTypeUnconfined), inContainer("a")), nil},
		{"an empty profile differs from the profile of the pod", all(annotated(key, ""), inPod(corev1.AppArmorProfileTypeUnconfined)), want},
		{"a profile does not matter on Windows", all(annotated(key, "unconfined"), pod(func(spec *corev1.PodSpec) { spec.OS = &corev1.PodOS{Name: corev1.Windows} })), nil},
	})
}
