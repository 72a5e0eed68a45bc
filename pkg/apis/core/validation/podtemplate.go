// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// ValidatePodTemplateSpec returns what is wrong with the pod template of a Deployment: what the API would refuse of the
// Deployment or of its pods. It stops when ctx is done, and says so.
func ValidatePodTemplateSpec(ctx context.Context, template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	meta := path.Child("metadata")
	return validate.UntilMaxErrors(ctx, path,
		func() field.ErrorList { return metav1validation.ValidateLabels(template.Labels, meta.Child("labels")) },
		func() field.ErrorList {
			return apivalidation.ValidateAnnotations(template.Annotations, meta.Child("annotations"))
		},
		func() field.ErrorList { return ValidatePodSpecificAnnotations(template, meta.Child("annotations")) },
		func() field.ErrorList { return validateFinalizers(template.Finalizers, meta.Child("finalizers")) },
		func() field.ErrorList { return ValidatePodSpec(ctx, &template.Spec, path.Child("spec")) },
	)
}

// validateFinalizers validates the finalizers that each pod is made with.
func validateFinalizers(finalizers []string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizers(finalizers, path)
	names := validate.Unique[string]{}
	for i, finalizer := range validate.Each(finalizers, &errs) {
		errs = append(errs, names.Add(finalizer, path.Index(i))...)
	}
	return append(errs, ValidateFinalizerNames(finalizers, path)...)
}
