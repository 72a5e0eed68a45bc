// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// fixedLabels are the labels that the controller sets on every child and every pod of a box.
var fixedLabels = []string{
	modelv1.SelectorLabel, "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by",
}

// fixedAnnotations are the prefixes of the annotations that are set on children by this controller, by the Deployment controller,
// by the API of workloads for fields of its earlier versions, and by "kubectl apply".
var fixedAnnotations = []string{
	"model.github.com/", "deployment.kubernetes.io/", appsv1.DeprecatedRollbackTo, appsv1.DeprecatedTemplateGeneration,
	corev1.LastAppliedConfigAnnotation,
}

// otherAnnotationBytes are reserved for annotations of a child that do not come from the box.
const otherAnnotationBytes = 4 << 10

// validateChildMeta validates the labels and annotations that the box sets on its children.
func validateChildMeta(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateChildLabels(spec.Labels, path.Child("labels")),
		validateChildAnnotations(spec.Annotations, path.Child("annotations")),
		validateAnnotationsOfPods(spec, path.Child("annotations")),
	)
	if spec.Service == nil {
		return errs
	}
	servicePath := path.Child("service")
	return slices.Concat(errs,
		validateChildLabels(spec.Service.Labels, servicePath.Child("labels")),
		validateChildAnnotations(spec.Service.Annotations, servicePath.Child("annotations")),
		validateAnnotationsSize(serviceAnnotations(spec), servicePath.Child("annotations")),
	)
}

func validateChildLabels(labels map[string]string, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(labels, path)
	for _, key := range fixedLabels {
		if _, given := labels[key]; given {
			errs = append(errs, field.Forbidden(path.Key(key), mustNotChangeChildLabel))
		}
	}
	return append(errs, validateNoCandidateLabel(labels, path)...)
}

// validateNoCandidateLabel refuses the label that distinguishes the pods of the candidate from the stable pods.
func validateNoCandidateLabel(labels map[string]string, path *field.Path) field.ErrorList {
	if _, given := labels[modelv1.CandidateLabel]; !given {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Key(modelv1.CandidateLabel), mustNotBeCandidate)}
}

func validateChildAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(annotations, path)
	for _, key := range validate.Each(slices.Sorted(maps.Keys(annotations)), &errs) {
		if isFixedAnnotation(key) {
			errs = append(errs, field.Forbidden(path.Key(key), mustNotChangeChildAnnotation))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return validateAnnotationsSize(annotations, path)
}

func isFixedAnnotation(key string) bool {
	return slices.ContainsFunc(fixedAnnotations, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

func validateAnnotationsSize(annotations map[string]string, path *field.Path) field.ErrorList {
	const limit = apivalidation.TotalAnnotationSizeLimitB - otherAnnotationBytes
	size := 0
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	if size <= limit {
		return nil
	}
	return field.ErrorList{field.TooLong(path, field.OmitValueType{}, limit)}
}

// validateAnnotationsOfPods validates the annotations that have a meaning for pods.
func validateAnnotationsOfPods(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	template := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: spec.Annotations}}
	if spec.PodTemplate != nil {
		template.Spec = *spec.PodTemplate.Spec.DeepCopy()
	}
	main := []corev1.Container{{Name: spec.Name}}
	template.Spec.Containers = slices.Concat(template.Spec.Containers, main, spec.Containers)
	template.Spec.InitContainers = slices.Concat(template.Spec.InitContainers, spec.InitContainers)
	return corevalidation.ValidatePodSpecificAnnotations(template, path)
}

// serviceAnnotations returns the annotations that the box sets on its Service.
func serviceAnnotations(spec *model.ModelBoxSpec) map[string]string {
	annotations := map[string]string{}
	maps.Copy(annotations, spec.Annotations)
	if spec.Service != nil {
		maps.Copy(annotations, spec.Service.Annotations)
	}
	return annotations
}

// serviceAnnotationPath returns the path of the field of the box that sets the annotation on its Service.
func serviceAnnotationPath(spec *model.ModelBoxSpec, key string, path *field.Path) *field.Path {
	if spec.Service != nil {
		if _, given := spec.Service.Annotations[key]; given {
			return path.Child("service", "annotations").Key(key)
		}
	}
	return path.Child("annotations").Key(key)
}

var switchValues = []string{"true", "false"}

// validateAnnotations validates the annotations that the controller reads. The controller ignores a value that it does not know,
// and the user would not notice.
func validateAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	value, given := annotations[modelv1.AdoptAnnotation]
	if !given || slices.Contains(switchValues, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Key(modelv1.AdoptAnnotation), value, switchValues)}
}

// validateAnnotationsUpdate is validateAnnotations for an update, which may keep an invalid value.
func validateAnnotationsUpdate(annotations, old map[string]string, path *field.Path) field.ErrorList {
	if was, had := old[modelv1.AdoptAnnotation]; had && annotations[modelv1.AdoptAnnotation] == was {
		return nil
	}
	return validateAnnotations(annotations, path)
}

// validateFinalizersUpdate validates the finalizers that an update adds.
func validateFinalizersUpdate(finalizers, old []string, path *field.Path) field.ErrorList {
	errs, oldErrs := corevalidation.ValidateFinalizerNames(finalizers, path), corevalidation.ValidateFinalizerNames(old, path)
	return Ratchet(path, finalizers, old, errs, oldErrs)
}
