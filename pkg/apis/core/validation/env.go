// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// The fields and resources of a pod that its own containers can read, see
// https://kubernetes.io/docs/concepts/workloads/pods/downward-api/.
var (
	envFieldPaths = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels['<KEY>']", "metadata.annotations['<KEY>']",
		"spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	volumeFieldPaths = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.labels['<KEY>']",
		"metadata.annotations", "metadata.annotations['<KEY>']",
	}
	resourceFields = []string{
		"limits.cpu", "limits.memory", "limits.ephemeral-storage", "limits.hugepages-*",
		"requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.hugepages-*",
	}
	cpuDivisors  = []string{"1m", "1"}
	byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

// ValidateEnv returns what is wrong with the variables of a container of the pod. No name may be listed twice: it is the key
// of the list, and server-side apply takes each key once.
func ValidateEnv(vars []corev1.EnvVar, pod PodContext, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i := range validate.Each(vars, &errs) {
		env, envPath := &vars[i], path.Index(i)
		errs = append(errs, slices.Concat(
			validate.Format(env.Name, validation.IsRelaxedEnvVarName, envPath.Child("name")),
			names.Add(env.Name, envPath.Child("name")),
			validateEnvVarValueFrom(env, pod.volumes, envPath.Child("valueFrom")),
		)...)
	}
	return errs
}

func validateEnvVarValueFrom(env *corev1.EnvVar, volumes volumeSources, path *field.Path) field.ErrorList {
	if env.ValueFrom == nil {
		return nil
	}
	if env.Value != "" {
		return field.ErrorList{field.Forbidden(path, "only one of value and valueFrom may be given, and value is")}
	}
	return validate.ExactlyOneOf([]validate.Member{
		validate.MemberOf("fieldRef", env.ValueFrom.FieldRef, validateEnvObjectFieldSelector),
		validate.MemberOf("resourceFieldRef", env.ValueFrom.ResourceFieldRef, validateContainerResourceFieldSelector),
		validate.MemberOf("configMapKeyRef", env.ValueFrom.ConfigMapKeyRef, validateConfigMapKeySelector),
		validate.MemberOf("secretKeyRef", env.ValueFrom.SecretKeyRef, validateSecretKeySelector),
		validate.MemberOf("fileKeyRef", env.ValueFrom.FileKeyRef, volumes.validateFileKeySelector),
	}, path)
}

func validateConfigMapKeySelector(ref *corev1.ConfigMapKeySelector, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name")),
		validate.Format(ref.Key, validation.IsConfigMapKey, path.Child("key")),
	)
}

func validateSecretKeySelector(ref *corev1.SecretKeySelector, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name")),
		validate.Format(ref.Key, validation.IsConfigMapKey, path.Child("key")),
	)
}

// validateFileKeySelector requires an emptyDir among the volumes: an init container writes the file there. Clusters before
// Kubernetes 1.35 do not know file references; the box then says so in its status.
func (v volumeSources) validateFileKeySelector(ref *corev1.FileKeySelector, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(ref.Key, validation.IsRelaxedEnvVarName, path.Child("key")),
		v.validateFileVolume(ref.VolumeName, path.Child("volumeName")),
		validate.Required(ref.Path, path.Child("path"), "must be the path of a file in the volume"),
		validateNoBacksteps(ref.Path, path.Child("path")),
	)
}

func (v volumeSources) validateFileVolume(name string, path *field.Path) field.ErrorList {
	if errs := v.validateName(name, path); len(errs) > 0 {
		return errs
	}
	if !isEmptyDir(v[name]) {
		return field.ErrorList{field.Invalid(path, name, "must be an emptyDir volume")}
	}
	return nil
}

// ValidateEnvFrom returns what is wrong with the sources of a container's variables.
func ValidateEnvFrom(sources []corev1.EnvFromSource, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(sources, &errs) {
		source, sourcePath := &sources[i], path.Index(i)
		if source.Prefix != "" {
			errs = append(errs, validate.Format(source.Prefix, validation.IsRelaxedEnvVarName, sourcePath.Child("prefix"))...)
		}
		errs = append(errs, validate.ExactlyOneOf([]validate.Member{
			validate.MemberOf("configMapRef", source.ConfigMapRef, validateConfigMapEnvSource),
			validate.MemberOf("secretRef", source.SecretRef, validateSecretEnvSource),
		}, sourcePath)...)
	}
	return errs
}

func validateConfigMapEnvSource(ref *corev1.ConfigMapEnvSource, path *field.Path) field.ErrorList {
	return validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name"))
}

func validateSecretEnvSource(ref *corev1.SecretEnvSource, path *field.Path) field.ErrorList {
	return validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name"))
}

func validateEnvObjectFieldSelector(ref *corev1.ObjectFieldSelector, path *field.Path) field.ErrorList {
	return validateObjectFieldSelector(ref, envFieldPaths, path)
}

func validateVolumeObjectFieldSelector(ref *corev1.ObjectFieldSelector, path *field.Path) field.ErrorList {
	return validateObjectFieldSelector(ref, volumeFieldPaths, path)
}

func validateObjectFieldSelector(ref *corev1.ObjectFieldSelector, supported []string, path *field.Path) field.ErrorList {
	errs := validate.OptionalEnum(ref.APIVersion, []string{"v1"}, path.Child("apiVersion"))
	fieldPath := path.Child("fieldPath")
	if ref.FieldPath == "" {
		return append(errs, field.Required(fieldPath, "must be one of: "+strings.Join(supported, ", ")))
	}
	name, key, subscripted := splitSubscript(ref.FieldPath)
	switch {
	case subscripted && name == "metadata.labels":
		return append(errs, validate.Format(key, content.IsLabelKey, fieldPath)...)
	case subscripted && name == "metadata.annotations":
		return append(errs, validate.Format(strings.ToLower(key), content.IsLabelKey, fieldPath)...)
	}
	return append(errs, validate.Enum(ref.FieldPath, supported, fieldPath)...)
}

// splitSubscript takes "metadata.labels['tier']" apart into "metadata.labels" and "tier".
func splitSubscript(fieldPath string) (name, key string, subscripted bool) {
	subscript, closed := strings.CutSuffix(fieldPath, "']")
	name, key, opened := strings.Cut(subscript, "['")
	return name, key, closed && opened
}

func validateContainerResourceFieldSelector(ref *corev1.ResourceFieldSelector, path *field.Path) field.ErrorList {
	resourcePath := path.Child("resource")
	if ref.Resource == "" {
		return field.ErrorList{field.Required(resourcePath, "must be one of: "+strings.Join(resourceFields, ", "))}
	}
	if !isResourceField(ref.Resource) {
		return field.ErrorList{field.NotSupported(resourcePath, ref.Resource, resourceFields)}
	}
	if ref.Divisor.IsZero() {
		return nil
	}
	divisors := byteDivisors
	if strings.HasSuffix(ref.Resource, ".cpu") {
		divisors = cpuDivisors
	}
	return validate.Enum(ref.Divisor.String(), divisors, path.Child("divisor"))
}

// validateVolumeResourceFieldSelector requires a container as well: a volume belongs to none.
func validateVolumeResourceFieldSelector(ref *corev1.ResourceFieldSelector, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(ref.ContainerName, path.Child("containerName"), "must name the container whose resource it is"),
		validateContainerResourceFieldSelector(ref, path),
	)
}

func isResourceField(name string) bool {
	return slices.ContainsFunc(resourceFields, func(supported string) bool {
		if prefix, wildcard := strings.CutSuffix(supported, "*"); wildcard {
			return strings.HasPrefix(name, prefix)
		}
		return name == supported
	})
}
