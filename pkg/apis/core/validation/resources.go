// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const resourceNameRule = `must be cpu, memory, ephemeral-storage, hugepages-<size>, or an extended resource such as "example.com/gpu"`

func validateResourceRequirements(resources *corev1.ResourceRequirements, claims sets.Set[string], path *field.Path) field.ErrorList {
	return slices.Concat(
		validateResourceList(resources.Limits, path.Child("limits")),
		validateResourceList(resources.Requests, path.Child("requests")),
		validateRequestsWithinLimits(resources, path),
		validateHugePagesNeedCPUOrMemory(resources, path),
		validateResourceClaimNames(resources.Claims, claims, path.Child("claims")),
	)
}

func validateResourceList(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range validate.Each(slices.Sorted(maps.Keys(list)), &errs) {
		errs = append(errs, validateContainerResource(name, list[name], path.Key(string(name)))...)
	}
	return errs
}

func validateContainerResource(name corev1.ResourceName, quantity resource.Quantity, path *field.Path) field.ErrorList {
	if !isContainerResourceName(name) {
		return field.ErrorList{field.Invalid(path, string(name), resourceNameRule)}
	}
	if quantity.Sign() < 0 {
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be greater than or equal to 0")}
	}
	if isExtendedResourceName(name) && quantity.MilliValue()%1000 != 0 {
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be an integer")}
	}
	if isHugePageResourceName(name) && !isHugePageMultiple(name, quantity) {
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be a multiple of the page size in "+string(name))}
	}
	return nil
}

func validateRequestsWithinLimits(resources *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range validate.Each(slices.Sorted(maps.Keys(resources.Requests)), &errs) {
		request, requestPath := resources.Requests[name], path.Child("requests").Key(string(name))
		limit, limited := resources.Limits[name]
		switch {
		case !limited && !isOvercommitAllowed(name):
			errs = append(errs, field.Required(path.Child("limits").Key(string(name)),
				fmt.Sprintf("must equal the request of %s: %s cannot be shared", request.String(), name)))
		case limited && !isOvercommitAllowed(name) && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(requestPath, request.String(),
				fmt.Sprintf("must be equal to %s limit of %s", name, limit.String())))
		case limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requestPath, request.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return errs
}

// validateHugePagesNeedCPUOrMemory requires cpu or memory beside huge pages: without, the pod would count as BestEffort.
func validateHugePagesNeedCPUOrMemory(resources *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	hugePages := false
	for _, list := range []corev1.ResourceList{resources.Limits, resources.Requests} {
		for name := range list {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				return nil
			}
			hugePages = hugePages || isHugePageResourceName(name)
		}
	}
	if !hugePages {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "HugePages require cpu or memory")}
}

func isContainerResourceName(name corev1.ResourceName) bool {
	switch {
	case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage:
		return true
	case len(content.IsLabelKey(string(name))) > 0:
		return false
	case isNativeResource(name):
		return isHugePageResourceName(name) || strings.Contains(string(name), "/")
	}
	return isExtendedResourceName(name)
}

// isNativeResource returns true for names without a domain, and for names in the domain kubernetes.io.
func isNativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// isExtendedResourceName is true for the names of other domains that a resource quota can carry, with its own "requests."
// in front of them.
func isExtendedResourceName(name corev1.ResourceName) bool {
	return !isNativeResource(name) &&
		!strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(content.IsLabelKey(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func isOvercommitAllowed(name corev1.ResourceName) bool {
	return isNativeResource(name) && !isHugePageResourceName(name)
}

func isHugePageResourceName(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func isHugePageMultiple(name corev1.ResourceName, quantity resource.Quantity) bool {
	pageSize, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || pageSize.Sign() <= 0 || pageSize.MilliValue()%1000 != 0 {
		return false
	}
	return quantity.Value()%pageSize.Value() == 0
}

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
