// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateOverlay validates the fields of spec.podTemplate that the merge would lose. ValidatePodTemplate validates the merged
// template.
func validateOverlay(overlay *corev1.PodTemplateSpec, boxName string, path *field.Path) field.ErrorList {
	if overlay == nil {
		return nil
	}
	spec, specPath, names := &overlay.Spec, path.Child("spec"), validate.Unique[string]{}
	return slices.Concat(
		validateOverlayMeta(&overlay.ObjectMeta, path.Child("metadata")),
		validateOverlayLabels(overlay.Labels, boxName, path.Child("metadata", "labels")),
		corevalidation.ValidateVolumeNames(spec.Volumes, specPath.Child("volumes")),
		corevalidation.ValidateContainerNames(spec.InitContainers, names, specPath.Child("initContainers")),
		corevalidation.ValidateContainerNames(spec.Containers, names, specPath.Child("containers")),
		corevalidation.ValidateImagePullSecrets(spec.ImagePullSecrets, specPath.Child("imagePullSecrets")),
	)
}

// validateOverlayMeta refuses metadata that pods do not take from their template.
func validateOverlayMeta(meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	return validate.Forbidden(mustNotBeIgnoredByPods, path, []validate.Field{
		{Name: "name", Set: meta.Name != ""},
		{Name: "generateName", Set: meta.GenerateName != ""},
		{Name: "namespace", Set: meta.Namespace != ""},
		{Name: "selfLink", Set: meta.GetSelfLink() != ""},
		{Name: "uid", Set: meta.UID != ""},
		{Name: "resourceVersion", Set: meta.ResourceVersion != ""},
		{Name: "generation", Set: meta.Generation != 0},
		{Name: "creationTimestamp", Set: !meta.CreationTimestamp.IsZero()},
		{Name: "deletionTimestamp", Set: meta.DeletionTimestamp != nil},
		{Name: "deletionGracePeriodSeconds", Set: meta.DeletionGracePeriodSeconds != nil},
		{Name: "ownerReferences", Set: len(meta.OwnerReferences) > 0},
		{Name: "managedFields", Set: len(meta.ManagedFields) > 0},
	})
}

func validateOverlayLabels(labels map[string]string, boxName string, path *field.Path) field.ErrorList {
	errs := validateNoCandidateLabel(labels, path)
	if _, given := labels[modelv1.SelectorLabel]; !given {
		return errs
	}
	return append(errs, validateSelectorLabel(labels, boxName, path)...)
}

func validateSelectorLabel(labels map[string]string, boxName string, path *field.Path) field.ErrorList {
	value, given := labels[modelv1.SelectorLabel]
	if given && value == boxName {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Key(modelv1.SelectorLabel), value, mustSelectPodsOfBox(boxName))}
}

// validateOverlayContainers requires that a container of the overlay without an image is a container of the box, and refuses an
// image of the main container.
func validateOverlayContainers(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.PodTemplate == nil {
		return nil
	}
	overlay, path := &spec.PodTemplate.Spec, path.Child("podTemplate", "spec")
	containers := append([]corev1.Container{{Name: spec.Name}}, spec.Containers...)
	mainIs := MainContainerIs(spec.Name)
	return slices.Concat(
		validateMainImage(overlay.Containers, spec.Name, path.Child("containers")),
		validateAddedTo(overlay.Containers, containers, mainIs, path.Child("containers")),
		validateAddedTo(overlay.InitContainers, spec.InitContainers, "", path.Child("initContainers")),
	)
}

// validateMainImage refuses an image of the main container in the overlay. spec.image is the image that kubectl prints and that
// field selectors select.
func validateMainImage(overlay []corev1.Container, mainName string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(overlay, &errs) {
		if overlay[i].Name == mainName && overlay[i].Image != "" {
			errs = append(errs, field.Forbidden(path.Index(i).Child("image"), MustUseImageOfBox))
		}
	}
	return errs
}

// validateAddedTo requires that a container of the overlay has an image or the name of a container of the box.
func validateAddedTo(overlay, containers []corev1.Container, hint string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(overlay, &errs) {
		name := overlay[i].Name
		isAdded := slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Name == name })
		if name == "" || overlay[i].Image != "" || isAdded {
			continue
		}
		errs = append(errs, field.Required(path.Index(i).Child("image"), MustHaveImage(name, hint)))
	}
	return errs
}

// ValidatePodTemplate validates the pod template of the workload of a box, with the overlay of the box merged in. It returns the
// errors that the cluster would return for the workload or its pods. The box must be valid.
func ValidatePodTemplate(ctx context.Context, template *corev1.PodTemplateSpec, box *model.ModelBox, path *field.Path) field.ErrorList {
	errs := validateSelectorLabel(template.Labels, box.Name, path.Child("metadata", "labels"))
	if box.Spec.Workload.RunsToCompletion() {
		template, errs = validateEnd(template, errs, path.Child("spec"))
	}
	return append(errs, corevalidation.ValidatePodTemplateSpec(ctx, template, path)...)
}

// validateEnd validates the fields with which the pods of a Job end, and returns the template without them: the pods of other workloads
// do not have them.
func validateEnd(template *corev1.PodTemplateSpec, errs field.ErrorList, path *field.Path) (*corev1.PodTemplateSpec, field.ErrorList) {
	endless := *template
	policy, deadline := endless.Spec.RestartPolicy, endless.Spec.ActiveDeadlineSeconds
	endless.Spec.RestartPolicy, endless.Spec.ActiveDeadlineSeconds = "", nil
	errs = append(errs, validate.OptionalEnum(policy, []corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}, path.Child("restartPolicy"))...)
	if deadline != nil && (*deadline < 1 || *deadline > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *deadline, mustBeBetween(1, math.MaxInt32)))
	}
	return &endless, errs
}

// ValidateNoDirectives refuses keys of maps in the overlay of a box that are directives of strategic merge patch, such as "$patch".
// The merge would interpret and remove them. The spec of the box is at path.
func ValidateNoDirectives(box *model.ModelBox, path *field.Path) field.ErrorList {
	if box.Spec.PodTemplate == nil {
		return nil
	}
	var errs field.ErrorList
	overlay := &lazyPath{root: path.Child("podTemplate")}
	visitFields(reflect.ValueOf(box.Spec.PodTemplate), overlay, "", func(path *lazyPath, _ string, value reflect.Value) {
		if value.Kind() != reflect.Map {
			return
		}
		for _, key := range value.MapKeys() {
			if helper.IsMergeDirective(key.String()) && len(errs) < validate.MaxErrors {
				errs = append(errs, field.Forbidden(path.build().Key(key.String()), mustNotBeDirective))
			}
		}
	})
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// ValidateNoDirectivesUpdate is ValidateNoDirectives for an update of old, which may keep directives.
func ValidateNoDirectivesUpdate(box, old *model.ModelBox, path *field.Path) field.ErrorList {
	errs := ValidateNoDirectives(box, path)
	if len(errs) == 0 {
		return nil
	}
	return Ratchet(path.Child("podTemplate"), box.Spec.PodTemplate, old.Spec.PodTemplate, errs, ValidateNoDirectives(old, path))
}
