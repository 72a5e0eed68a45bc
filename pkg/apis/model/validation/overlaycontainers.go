// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateOverlayContainers validates which containers the overlay adds to, as most of their names are meant for those
// of the box, and what it may not say of them.
func validateOverlayContainers(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.PodTemplate == nil {
		return nil
	}
	overlay, path := &spec.PodTemplate.Spec, path.Child("podTemplate", "spec")
	containers := append([]corev1.Container{{Name: spec.Name}}, spec.Containers...)
	mainIs := fmt.Sprintf("; the main container is %q", spec.Name)
	return slices.Concat(
		validateMainImage(overlay.Containers, spec.Name, path.Child("containers")),
		validateAddedTo(overlay.Containers, containers, mainIs, path.Child("containers")),
		validateAddedTo(overlay.InitContainers, spec.InitContainers, "", path.Child("initContainers")),
	)
}

// validateMainImage refuses another image for the main container than spec.image, by which the box is printed and
// selected.
func validateMainImage(overlay []corev1.Container, mainName string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(overlay, &errs) {
		if overlay[i].Name == mainName && overlay[i].Image != "" {
			errs = append(errs, field.Forbidden(path.Index(i).Child("image"), "set spec.image instead: this is the main container"))
		}
	}
	return errs
}

// validateAddedTo requires that a container of the overlay has an image or the name of one that has.
func validateAddedTo(overlay, containers []corev1.Container, hint string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(overlay, &errs) {
		name := overlay[i].Name
		isAdded := slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Name == name })
		if name == "" || overlay[i].Image != "" || isAdded {
			continue
		}
		detail := fmt.Sprintf("must name an image: the box has no container %q to add to%s", name, hint)
		errs = append(errs, field.Required(path.Index(i).Child("image"), detail))
	}
	return errs
}
