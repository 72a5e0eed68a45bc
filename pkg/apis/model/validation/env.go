// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateEnv requires that no name is listed twice: it is the key of the list, and server-side apply takes each key
// once.
func validateEnv(vars []corev1.EnvVar, volumes volumeSources, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i := range validate.Each(vars, &errs) {
		env, envPath := &vars[i], path.Index(i)
		errs = append(errs, slices.Concat(
			validate.Format(env.Name, validation.IsRelaxedEnvVarName, envPath.Child("name")),
			names.Add(env.Name, envPath.Child("name")),
			validateEnvSource(env, volumes, envPath.Child("valueFrom")),
		)...)
	}
	return errs
}

func validateEnvSource(env *corev1.EnvVar, volumes volumeSources, path *field.Path) field.ErrorList {
	if env.ValueFrom == nil {
		return nil
	}
	if env.Value != "" {
		return field.ErrorList{field.Forbidden(path, "only one of value and valueFrom may be given, and value is")}
	}
	return validate.ExactlyOneOf([]validate.Member{
		validate.MemberOf("fieldRef", env.ValueFrom.FieldRef, validateEnvFieldRef),
		validate.MemberOf("resourceFieldRef", env.ValueFrom.ResourceFieldRef, validateResourceFieldRef),
		validate.MemberOf("configMapKeyRef", env.ValueFrom.ConfigMapKeyRef, validateConfigMapKeyRef),
		validate.MemberOf("secretKeyRef", env.ValueFrom.SecretKeyRef, validateSecretKeyRef),
		validate.MemberOf("fileKeyRef", env.ValueFrom.FileKeyRef, volumes.validateFileKeyRef),
	}, path)
}

func validateConfigMapKeyRef(ref *corev1.ConfigMapKeySelector, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name")),
		validate.Format(ref.Key, validation.IsConfigMapKey, path.Child("key")),
	)
}

func validateSecretKeyRef(ref *corev1.SecretKeySelector, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name")),
		validate.Format(ref.Key, validation.IsConfigMapKey, path.Child("key")),
	)
}

// validateFileKeyRef requires an emptyDir among the volumes: an init container writes the file there. Clusters before
// Kubernetes 1.35 do not know file references; the box then says so in its status.
func (v volumeSources) validateFileKeyRef(ref *corev1.FileKeySelector, path *field.Path) field.ErrorList {
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

func validateEnvFrom(sources []corev1.EnvFromSource, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(sources, &errs) {
		source, sourcePath := &sources[i], path.Index(i)
		if source.Prefix != "" {
			errs = append(errs, validate.Format(source.Prefix, validation.IsRelaxedEnvVarName, sourcePath.Child("prefix"))...)
		}
		errs = append(errs, validate.ExactlyOneOf([]validate.Member{
			validate.MemberOf("configMapRef", source.ConfigMapRef, validateConfigMapRef),
			validate.MemberOf("secretRef", source.SecretRef, validateSecretRef),
		}, sourcePath)...)
	}
	return errs
}

func validateConfigMapRef(ref *corev1.ConfigMapEnvSource, path *field.Path) field.ErrorList {
	return validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name"))
}

func validateSecretRef(ref *corev1.SecretEnvSource, path *field.Path) field.ErrorList {
	return validate.Format(ref.Name, validation.IsDNS1123Subdomain, path.Child("name"))
}
