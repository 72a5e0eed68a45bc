// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func envs(vars ...corev1.EnvVar) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].Env = vars }
}

func envFromSource(source corev1.EnvVarSource) func(*corev1.PodTemplateSpec) {
	return envs(corev1.EnvVar{Name: "A", ValueFrom: &source})
}

func TestEnv(t *testing.T) {
	check(t, []row{
		{"a variable without a value is accepted", envs(corev1.EnvVar{Name: "A"}), nil},
		{"a variable's name may have dots, dashes and spaces", envs(corev1.EnvVar{Name: "1 my.app-name"}), nil},
		{"a variable has a name", envs(corev1.EnvVar{Value: "a"}), []string{"Required value: spec.containers[0].env[0].name"}},
		{"a variable's name has no '='", envs(corev1.EnvVar{Name: "A=B"}), []string{"Invalid value: spec.containers[0].env[0].name"}},
		{"a variable's name is ASCII", envs(corev1.EnvVar{Name: "Ä"}), []string{"Invalid value: spec.containers[0].env[0].name"}},
		{"a variable is listed once", envs(corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "A", Value: "2"}), []string{"Duplicate value: spec.containers[0].env[1].name"}},
		{"a container's variable is listed once", container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A"}, {Name: "A"}} }),
			[]string{"Duplicate value: spec.containers[1].env[1].name"}},
		{"a variable has a value or a source", envs(corev1.EnvVar{Name: "A", Value: "a", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}),
			[]string{"Forbidden: spec.containers[0].env[0].valueFrom"}},
		{"a source is one of those there are", envFromSource(corev1.EnvVarSource{}), []string{"Required value: spec.containers[0].env[0].valueFrom"}},
		{"a source is only one", envFromSource(corev1.EnvVarSource{
			FieldRef:     &corev1.ObjectFieldSelector{FieldPath: "metadata.name"},
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"},
		}), []string{"Forbidden: spec.containers[0].env[0].valueFrom.secretKeyRef"}},
	})
}

func TestEnvFieldRefs(t *testing.T) {
	fieldRef := func(apiVersion, path string) func(*corev1.PodTemplateSpec) {
		return envFromSource(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: apiVersion, FieldPath: path}})
	}
	resourceRef := func(name, divisor string) func(*corev1.PodTemplateSpec) {
		return envFromSource(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: name, Divisor: resource.MustParse(divisor)}})
	}
	fieldError := []string{"Unsupported value: spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"}
	check(t, []row{
		{"metadata.name is accepted", fieldRef("", "metadata.name"), nil},
		{"status.podIPs is accepted", fieldRef("v1", "status.podIPs"), nil},
		{"spec.nodeName is accepted", fieldRef("v1", "spec.nodeName"), nil},
		{"a label is accepted", fieldRef("", "metadata.labels['app.kubernetes.io/name']"), nil},
		{"an annotation's key may have capitals", fieldRef("", "metadata.annotations['Example.com/Key']"), nil},
		{"all labels are no variable", fieldRef("", "metadata.labels"), fieldError},
		{"spec.image is no field of a pod", fieldRef("", "spec.image"), fieldError},
		{"a name has no keys", fieldRef("", "metadata.name['a']"), fieldError},
		{"a label's key is a qualified name", fieldRef("", "metadata.labels['a b']"), []string{"Invalid value: spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"}},
		{"a field has a path", fieldRef("", ""), []string{"Required value: spec.containers[0].env[0].valueFrom.fieldRef.fieldPath"}},
		{"a field is one of v1", fieldRef("v2", "metadata.name"), []string{"Unsupported value: spec.containers[0].env[0].valueFrom.fieldRef.apiVersion"}},

		{"limits.cpu is accepted", resourceRef("limits.cpu", "0"), nil},
		{"limits.cpu in thousandths is accepted", resourceRef("limits.cpu", "1m"), nil},
		{"requests.memory in Mi is accepted", resourceRef("requests.memory", "1Mi"), nil},
		{"limits.hugepages-2Mi is accepted", resourceRef("limits.hugepages-2Mi", "1"), nil},
		{"limits.cpu in Mi is refused", resourceRef("limits.cpu", "1Mi"), []string{"Unsupported value: spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor"}},
		{"limits.memory in thousandths is refused", resourceRef("limits.memory", "1m"), []string{"Unsupported value: spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor"}},
		{"an extended resource is refused", resourceRef("limits.example.com/gpu", "1"), []string{"Unsupported value: spec.containers[0].env[0].valueFrom.resourceFieldRef.resource"}},
		{"a resource is named", resourceRef("", "0"), []string{"Required value: spec.containers[0].env[0].valueFrom.resourceFieldRef.resource"}},
	})
}

func TestEnvKeyRefs(t *testing.T) {
	configMap := func(name, key string) func(*corev1.PodTemplateSpec) {
		return envFromSource(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}})
	}
	secret := func(name, key string) func(*corev1.PodTemplateSpec) {
		return envFromSource(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}})
	}
	file := func(volumeName, path, key string) func(*corev1.PodTemplateSpec) {
		return envFromSource(corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: volumeName, Path: path, Key: key}})
	}
	check(t, []row{
		{"a ConfigMap's key is accepted", configMap("web.config", "log.level"), nil},
		{"a ConfigMap has a name", configMap("", "key"), []string{"Required value: spec.containers[0].env[0].valueFrom.configMapKeyRef.name"}},
		{"a ConfigMap's name is a DNS name", configMap("Web", "key"), []string{"Invalid value: spec.containers[0].env[0].valueFrom.configMapKeyRef.name"}},
		{"a ConfigMap's key is named", configMap("web", ""), []string{"Required value: spec.containers[0].env[0].valueFrom.configMapKeyRef.key"}},
		{"a ConfigMap's key has no slash", configMap("web", "a/b"), []string{"Invalid value: spec.containers[0].env[0].valueFrom.configMapKeyRef.key"}},
		{"a Secret's key is accepted", secret("web", "password"), nil},
		{"a Secret has a name", secret("", "key"), []string{"Required value: spec.containers[0].env[0].valueFrom.secretKeyRef.name"}},
		{"a Secret's name is a DNS name", secret("Web", "key"), []string{"Invalid value: spec.containers[0].env[0].valueFrom.secretKeyRef.name"}},
		{"a Secret's key is named", secret("web", ""), []string{"Required value: spec.containers[0].env[0].valueFrom.secretKeyRef.key"}},
		{"a Secret's key has no slash", secret("web", "a/b"), []string{"Invalid value: spec.containers[0].env[0].valueFrom.secretKeyRef.key"}},

		{"a file's key is accepted", all(volume(emptyDir()), file("data", "app.env", "LEVEL")), nil},
		{"a file is in a volume without a source", all(volume(corev1.VolumeSource{}), file("data", "app.env", "LEVEL")), nil},
		{"a file is in an emptyDir", all(volume(claim()), file("data", "app.env", "LEVEL")), []string{"Invalid value: spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName"}},
		{"a file is in a volume of the box", file("data", "app.env", "LEVEL"), []string{"Not found: spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName"}},
		{"a file's volume is named", all(volume(emptyDir()), file("", "app.env", "LEVEL")), []string{"Required value: spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName"}},
		{"a file has a path", all(volume(emptyDir()), file("data", "", "LEVEL")), []string{"Required value: spec.containers[0].env[0].valueFrom.fileKeyRef.path"}},
		{"a file stays in its volume", all(volume(emptyDir()), file("data", "../app.env", "LEVEL")), []string{"Invalid value: spec.containers[0].env[0].valueFrom.fileKeyRef.path"}},
		{"a file's key is named", all(volume(emptyDir()), file("data", "app.env", "")), []string{"Required value: spec.containers[0].env[0].valueFrom.fileKeyRef.key"}},
		{"a file's key is a variable's name", all(volume(emptyDir()), file("data", "app.env", "A=B")), []string{"Invalid value: spec.containers[0].env[0].valueFrom.fileKeyRef.key"}},
	})
}

func TestEnvFrom(t *testing.T) {
	from := func(sources ...corev1.EnvFromSource) func(*corev1.PodTemplateSpec) {
		return func(template *corev1.PodTemplateSpec) { template.Spec.Containers[0].EnvFrom = sources }
	}
	configMap := func(name string) *corev1.ConfigMapEnvSource {
		return &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	}
	secret := func(name string) *corev1.SecretEnvSource {
		return &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	}
	check(t, []row{
		{"a ConfigMap and a Secret are accepted", from(corev1.EnvFromSource{ConfigMapRef: configMap("web")}, corev1.EnvFromSource{SecretRef: secret("web")}), nil},
		{"one ConfigMap may come with two prefixes", from(corev1.EnvFromSource{ConfigMapRef: configMap("web")}, corev1.EnvFromSource{Prefix: "my.", ConfigMapRef: configMap("web")}), nil},
		{"a prefix has no '='", from(corev1.EnvFromSource{Prefix: "A=", ConfigMapRef: configMap("web")}), []string{"Invalid value: spec.containers[0].envFrom[0].prefix"}},
		{"a source is one of those there are", from(corev1.EnvFromSource{}), []string{"Required value: spec.containers[0].envFrom[0]"}},
		{"a source is only one", from(corev1.EnvFromSource{ConfigMapRef: configMap("web"), SecretRef: secret("web")}), []string{"Forbidden: spec.containers[0].envFrom[0].secretRef"}},
		{"a ConfigMap has a name", from(corev1.EnvFromSource{ConfigMapRef: configMap("")}), []string{"Required value: spec.containers[0].envFrom[0].configMapRef.name"}},
		{"a Secret's name is a DNS name", from(corev1.EnvFromSource{SecretRef: secret("Web")}), []string{"Invalid value: spec.containers[0].envFrom[0].secretRef.name"}},
		{"a container's source is validated", before(func(c *corev1.Container) { c.EnvFrom = []corev1.EnvFromSource{{}} }),
			[]string{"Required value: spec.initContainers[0].envFrom[0]"}},
	})
}
