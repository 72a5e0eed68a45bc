// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
)

// ValidatePodTemplate returns what is wrong with the pod template of a box's Deployment, the overlay of the box merged
// in: what the cluster would refuse of the Deployment or of its pods. The box itself has to be valid already.
func ValidatePodTemplate(ctx context.Context, template *corev1.PodTemplateSpec, boxName string, path *field.Path) field.ErrorList {
	return append(
		validateSelectorLabel(template.Labels, boxName, path.Child("metadata", "labels")),
		corevalidation.ValidatePodTemplateSpec(ctx, template, path)...)
}
