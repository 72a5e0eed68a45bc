// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	accessModes = []corev1.PersistentVolumeAccessMode{
		corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod,
	}
	volumeModes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}
)

func validateEphemeralVolumeSource(source *corev1.EphemeralVolumeSource, path *field.Path) field.ErrorList {
	path = path.Child("volumeClaimTemplate")
	if source.VolumeClaimTemplate == nil {
		return field.ErrorList{field.Required(path, "must say which claim each pod gets")}
	}
	return slices.Concat(
		validatePersistentVolumeClaimTemplateMeta(&source.VolumeClaimTemplate.ObjectMeta, path.Child("metadata")),
		validatePersistentVolumeClaimSpec(&source.VolumeClaimTemplate.Spec, path.Child("spec")),
	)
}

func validatePersistentVolumeClaimTemplateMeta(meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		metav1validation.ValidateLabels(meta.Labels, path.Child("labels")),
		apivalidation.ValidateAnnotations(meta.Annotations, path.Child("annotations")),
	)
	if !reflect.DeepEqual(*meta, metav1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations}) {
		errs = append(errs, field.Forbidden(path, "may only have labels and annotations"))
	}
	return errs
}

func validatePersistentVolumeClaimSpec(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		ValidateAccessModes(spec.AccessModes, path.Child("accessModes")),
		validateStorageRequest(spec.Resources.Requests, path.Child("resources", "requests").Key(string(corev1.ResourceStorage))),
		ValidateStorageClassName(spec.StorageClassName, path.Child("storageClassName")),
		ValidateStorageClassName(spec.VolumeAttributesClassName, path.Child("volumeAttributesClassName")),
		validateDataSources(spec, path),
		validateLabelSelector(spec.Selector, path.Child("selector")),
	)
	errs = append(errs, validate.EnumPointer(spec.VolumeMode, volumeModes, path.Child("volumeMode"))...)
	return errs
}

func validateLabelSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

// ValidateAccessModes requires modes that Kubernetes knows, and that may be together.
func ValidateAccessModes(modes []corev1.PersistentVolumeAccessMode, path *field.Path) field.ErrorList {
	if len(modes) == 0 {
		return field.ErrorList{field.Required(path, "must have an access mode, such as ReadWriteOnce")}
	}
	var errs field.ErrorList
	for i, mode := range validate.Each(modes, &errs) {
		errs = append(errs, validate.Enum(mode, accessModes, path.Index(i))...)
	}
	others := func(mode corev1.PersistentVolumeAccessMode) bool { return mode != corev1.ReadWriteOncePod }
	if slices.Contains(modes, corev1.ReadWriteOncePod) && slices.ContainsFunc(modes, others) {
		errs = append(errs, field.Forbidden(path, "ReadWriteOncePod may not be together with other access modes"))
	}
	return errs
}

func validateStorageRequest(requests corev1.ResourceList, path *field.Path) field.ErrorList {
	size, given := requests[corev1.ResourceStorage]
	if !given {
		return field.ErrorList{field.Required(path, `must be the size of the volume, such as "1Gi"`)}
	}
	return ValidateStorageSize(size, path)
}

// ValidateStorageSize requires a volume that can hold something.
func ValidateStorageSize(size resource.Quantity, path *field.Path) field.ErrorList {
	if size.Sign() <= 0 {
		return field.ErrorList{field.Invalid(path, size.String(), "must be above 0")}
	}
	return nil
}

// ValidateStorageClassName requires the name of a class. It accepts the empty one, which asks for a volume without a class.
func ValidateStorageClassName(name *string, path *field.Path) field.ErrorList {
	if name == nil || *name == "" {
		return nil
	}
	return validate.Format(*name, validation.IsDNS1123Subdomain, path)
}

func validateDataSources(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	source, ref := spec.DataSource, spec.DataSourceRef
	if source != nil {
		asRef := corev1.TypedObjectReference{APIGroup: source.APIGroup, Kind: source.Kind, Name: source.Name}
		errs = append(errs, validateDataSource(&asRef, path.Child("dataSource"))...)
	}
	if ref != nil {
		errs = append(errs, validateDataSource(ref, path.Child("dataSourceRef"))...)
	}
	if source == nil || ref == nil {
		return errs
	}
	if ref.Namespace != nil && *ref.Namespace != "" {
		return append(errs, field.Forbidden(path.Child("dataSource"), "may not be given when dataSourceRef names a namespace"))
	}
	if source.Kind != ref.Kind || source.Name != ref.Name || !reflect.DeepEqual(source.APIGroup, ref.APIGroup) {
		errs = append(errs, field.Invalid(path.Child("dataSource"), source.Name, "must be the same object as dataSourceRef"))
	}
	return errs
}

func validateDataSource(source *corev1.TypedObjectReference, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Required(source.Name, path.Child("name"), "must name the object to copy from"),
		validate.Required(source.Kind, path.Child("kind"), "must be the kind of the object to copy from"),
	)
	if source.APIGroup != nil && *source.APIGroup != "" {
		errs = append(errs, validate.Format(*source.APIGroup, validation.IsDNS1123Subdomain, path.Child("apiGroup"))...)
	} else if source.Kind != "" && source.Kind != "PersistentVolumeClaim" {
		errs = append(errs, field.Invalid(path.Child("kind"), source.Kind, "must be PersistentVolumeClaim when apiGroup is not given"))
	}
	if source.Namespace != nil && *source.Namespace != "" {
		errs = append(errs, validate.Format(*source.Namespace, validation.IsDNS1123Label, path.Child("namespace"))...)
	}
	return errs
}
