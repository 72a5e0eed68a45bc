// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// plainFinalizers are those that need no domain.
var plainFinalizers = []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes)}

// ValidateFinalizerNames requires of finalizers what Kubernetes requires of those of its own kinds beyond what it
// does of all.
func ValidateFinalizerNames(finalizers []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, finalizer := range validate.Each(finalizers, &errs) {
		if !strings.Contains(finalizer, "/") && !slices.Contains(plainFinalizers, finalizer) {
			errs = append(errs, field.Invalid(path.Index(i), finalizer, `must have a domain, such as "example.com/finalizer"`))
		}
	}
	return errs
}
