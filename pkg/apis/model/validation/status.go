// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// ValidateModelBoxStatusUpdate returns what is wrong with changing the status of old into that of box. The spec is
// not looked at: the status of every box that exists can be written.
func ValidateModelBoxStatusUpdate(box, old *model.ModelBox) field.ErrorList {
	return slices.Concat(
		apivalidation.ValidateObjectMetaUpdate(&box.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")),
		validateStatus(&box.Status, field.NewPath("status")),
	)
}

func validateStatus(status *model.ModelBoxStatus, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateNonNegative(status.ObservedGeneration, path.Child("observedGeneration")),
		validateNonNegative(status.Replicas, path.Child("replicas")),
		validateNonNegative(status.UpdatedReplicas, path.Child("updatedReplicas")),
		validateNonNegative(status.ReadyReplicas, path.Child("readyReplicas")),
		validateNonNegative(status.AvailableReplicas, path.Child("availableReplicas")),
		validateNonNegative(ptr.Deref(status.DesiredReplicas, 0), path.Child("desiredReplicas")),
		validateNonNegative(status.PodNamesOmitted, path.Child("podNamesOmitted")),
		metav1validation.ValidateConditions(status.Conditions, path.Child("conditions")),
	)
}
