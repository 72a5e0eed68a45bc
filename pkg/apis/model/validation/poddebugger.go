// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxPodDebuggerBytes is the maximum size of the spec of a PodDebugger. Programs belong into its image.
const maxPodDebuggerBytes = 64 << 10

// ValidatePodDebuggerName validates the name of a PodDebugger, or the prefix of a generated name if prefix is true. It must be a
// DNS-1123 label, because the name of a container begins with it.
func ValidatePodDebuggerName(name string, prefix bool) []string {
	return apivalidation.NameIsDNSLabel(name, prefix)
}

// ValidatePodDebugger validates a new PodDebugger.
func ValidatePodDebugger(ctx context.Context, debugger *model.PodDebugger) field.ErrorList {
	if errs := findExcesses(&debugger.ObjectMeta, &debugger.Spec).errors(nil); len(errs) > 0 {
		return errs
	}
	path := field.NewPath("spec")
	return slices.Concat(
		apivalidation.ValidateObjectMeta(&debugger.ObjectMeta, true, ValidatePodDebuggerName, field.NewPath("metadata")),
		corevalidation.ValidateFinalizerNames(debugger.Finalizers, field.NewPath("metadata", "finalizers")),
		validateDeclaredPodDebuggerSpec(ctx, &debugger.Spec, nil, path),
		validatePodSelector(&debugger.Spec.Selector, path.Child("selector")),
		validateDebugContainer(&debugger.Spec, path),
		validatePodDebuggerSize(&debugger.Spec, path),
	)
}

// ValidatePodDebuggerUpdate validates an update of old to debugger. The fields of the container cannot be changed, because an
// ephemeral container cannot be changed, and all pods of a PodDebugger have the same container.
func ValidatePodDebuggerUpdate(ctx context.Context, debugger, old *model.PodDebugger) field.ErrorList {
	found := findExcesses(&debugger.ObjectMeta, &debugger.Spec)
	if errs := found.newErrors(func() excesses { return findExcesses(&old.ObjectMeta, &old.Spec) }); len(errs) > 0 {
		return errs
	}
	path := field.NewPath("spec")
	spec, oldSpec := &debugger.Spec, &old.Spec
	selectorPath := path.Child("selector")
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&debugger.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateFinalizersUpdate(debugger.Finalizers, old.Finalizers, field.NewPath("metadata", "finalizers")),
		validateDeclaredPodDebuggerSpec(ctx, spec, oldSpec, path),
		Ratchet(selectorPath, &spec.Selector, &oldSpec.Selector, validatePodSelector(&spec.Selector, selectorPath), validatePodSelector(&oldSpec.Selector, selectorPath)),
		apivalidation.ValidateImmutableField(spec.Image, oldSpec.Image, path.Child("image")),
		apivalidation.ValidateImmutableField(spec.ImagePullPolicy, oldSpec.ImagePullPolicy, path.Child("imagePullPolicy")),
		apivalidation.ValidateImmutableField(spec.Command, oldSpec.Command, path.Child("command")),
		apivalidation.ValidateImmutableField(spec.Args, oldSpec.Args, path.Child("args")),
		apivalidation.ValidateImmutableField(spec.Env, oldSpec.Env, path.Child("env")),
		apivalidation.ValidateImmutableField(spec.TargetContainer, oldSpec.TargetContainer, path.Child("targetContainer")),
		apivalidation.ValidateImmutableField(spec.Profile, oldSpec.Profile, path.Child("profile")),
	)
}

// ValidatePodDebuggerStatusUpdate validates an update of the status. It does not validate the spec, so that the controller can
// write the status of every PodDebugger.
func ValidatePodDebuggerStatusUpdate(ctx context.Context, debugger, old *model.PodDebugger) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&debugger.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateDeclared(ctx, &debugger.Status, &old.Status,
			modelv1.Convert_model_PodDebuggerStatus_To_v1_PodDebuggerStatus, modelv1.Validate_PodDebuggerStatus, field.NewPath("status")),
		metav1validation.ValidateConditions(debugger.Status.Conditions, field.NewPath("status", "conditions")),
	)
}

func validateDeclaredPodDebuggerSpec(ctx context.Context, spec, old *model.PodDebuggerSpec, path *field.Path) field.ErrorList {
	return validateDeclared(ctx, spec, old, modelv1.Convert_model_PodDebuggerSpec_To_v1_PodDebuggerSpec, modelv1.Validate_PodDebuggerSpec, path)
}

// validatePodSelector requires a valid selector that does not select every pod.
func validatePodSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(path, MustSelectPods)}
	}
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

// validateDebugContainer validates the container without a pod.
func validateDebugContainer(spec *model.PodDebuggerSpec, path *field.Path) field.ErrorList {
	container := &corev1.Container{
		Image: spec.Image, ImagePullPolicy: spec.ImagePullPolicy, Command: spec.Command, Args: spec.Args, Env: spec.Env,
	}
	return corevalidation.ValidateContainer(container, corevalidation.NewPodContext(&corev1.PodSpec{}), path)
}

func validatePodDebuggerSize(spec *model.PodDebuggerSpec, path *field.Path) field.ErrorList {
	served := &modelv1.PodDebuggerSpec{}
	if err := modelv1.Convert_model_PodDebuggerSpec_To_v1_PodDebuggerSpec(spec, served, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	if served.Size() > maxPodDebuggerBytes {
		return field.ErrorList{field.TooLong(path, field.OmitValueType{}, maxPodDebuggerBytes)}
	}
	return nil
}
