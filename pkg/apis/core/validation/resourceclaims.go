// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

func validatePodResourceClaims(claims []corev1.PodResourceClaim, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i := range validate.Each(claims, &errs) {
		claim, claimPath := &claims[i], path.Index(i)
		errs = append(errs, slices.Concat(
			validate.Format(claim.Name, validation.IsDNS1123Label, claimPath.Child("name")),
			names.Add(claim.Name, claimPath.Child("name")),
			validate.ExactlyOneOf([]validate.Member{
				validate.MemberOf("resourceClaimName", claim.ResourceClaimName, validateResourceClaimName),
				validate.MemberOf("resourceClaimTemplateName", claim.ResourceClaimTemplateName, validateResourceClaimName),
			}, claimPath),
		)...)
	}
	return errs
}

func validateResourceClaimName(name *string, path *field.Path) field.ErrorList {
	return validate.Format(*name, validation.IsDNS1123Subdomain, path)
}

// validateResourceClaimNames requires that a container names claims of its pod, each once: the name is the key of the
// list, and server-side apply takes each key once.
func validateResourceClaimNames(references []corev1.ResourceClaim, claims sets.Set[string], path *field.Path) field.ErrorList {
	if len(references) > 0 && len(claims) == 0 {
		return field.ErrorList{field.Forbidden(path, "needs a pod with resourceClaims, and it has none")}
	}
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i, reference := range validate.Each(references, &errs) {
		referencePath := path.Index(i)
		if !claims.Has(reference.Name) {
			missing := field.NotFound(referencePath.Child("name"), reference.Name)
			missing.Detail = "must be the name of one of the pod's resourceClaims: " + strings.Join(sets.List(claims), ", ")
			errs = append(errs, missing)
		}
		if reference.Request != "" {
			errs = append(errs, validate.Format(reference.Request, validation.IsDNS1123Label, referencePath.Child("request"))...)
		}
		errs = append(errs, names.Add(reference.Name, referencePath.Child("name"))...)
	}
	return errs
}
