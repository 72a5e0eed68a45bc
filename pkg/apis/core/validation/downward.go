// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
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
