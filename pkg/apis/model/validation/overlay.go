// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateOverlay validates of spec.podTemplate what is lost or in the way once it is merged. The rest is validated in
// the template that results, see ValidatePodTemplate.
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

// validateOverlayMeta refuses what no pod takes over from its template: all but labels, annotations and finalizers.
func validateOverlayMeta(meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	const detail = "would be ignored: pods take over labels, annotations and finalizers of their template only"
	return validate.Forbidden(detail, path, []validate.Field{
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
	if _, given := labels[modelv1.SelectorLabel]; !given {
		return nil
	}
	return validateSelectorLabel(labels, boxName, path)
}

func validateSelectorLabel(labels map[string]string, boxName string, path *field.Path) field.ErrorList {
	value, given := labels[modelv1.SelectorLabel]
	if given && value == boxName {
		return nil
	}
	detail := fmt.Sprintf("must be %q, the name of the box: the label selects the box's pods", boxName)
	return field.ErrorList{field.Invalid(path.Key(modelv1.SelectorLabel), value, detail)}
}
