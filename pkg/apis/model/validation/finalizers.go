// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
)

// validateFinalizersUpdate lets go on what was accepted once.
func validateFinalizersUpdate(finalizers, old []string, path *field.Path) field.ErrorList {
	errs, oldErrs := corevalidation.ValidateFinalizerNames(finalizers, path), corevalidation.ValidateFinalizerNames(old, path)
	return Ratchet(path, finalizers, old, errs, oldErrs)
}
