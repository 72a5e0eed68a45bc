// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	sessionAffinities     = []corev1.ServiceAffinity{corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone}
	externalPolicies      = []corev1.ServiceExternalTrafficPolicy{corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal}
	internalPolicies      = []corev1.ServiceInternalTrafficPolicy{corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal}
	ipFamilies            = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	ipFamilyPolicies      = []corev1.IPFamilyPolicy{corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack}
	dualStackPolicies     = ipFamilyPolicies[1:]
	trafficDistributions  = []string{corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode}
	externallyServed      = []model.ServiceType{model.ServiceTypeNodePort, model.ServiceTypeLoadBalancer}
	servedByALoadBalancer = []model.ServiceType{model.ServiceTypeLoadBalancer}
)

// validateService validates what the Service has beyond its ports and its type, by the rules of the Service API. Which
// type the fields go with does not matter while there are no ports: there is no Service.
func validateService(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	errs := validateServiceAnnotations(spec, path)
	if spec.Service == nil {
		return errs
	}
	service, path := spec.Service, path.Child("service")
	errs = slices.Concat(errs,
		validateSessionAffinity(service, path),
		validate.OptionalEnum(service.ExternalTrafficPolicy, externalPolicies, path.Child("externalTrafficPolicy")),
		validate.EnumPointer(service.InternalTrafficPolicy, internalPolicies, path.Child("internalTrafficPolicy")),
		validateLoadBalancer(service, path),
		validateIPFamilies(service, path),
		validate.EnumPointer(service.TrafficDistribution, trafficDistributions, path.Child("trafficDistribution")),
	)
	if len(spec.Ports) == 0 {
		return errs
	}
	return append(errs, validateServiceType(service, helper.EffectiveServiceType(spec.ServiceType, spec.Ports), path)...)
}

// validateServiceType requires the type that each of the fields is for.
func validateServiceType(service *model.ModelBoxService, serviceType model.ServiceType, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct {
		name  string
		set   bool
		types []model.ServiceType
	}{
		{"externalTrafficPolicy", service.ExternalTrafficPolicy != "", externallyServed},
		{"loadBalancerClass", service.LoadBalancerClass != nil, servedByALoadBalancer},
		{"loadBalancerSourceRanges", len(service.LoadBalancerSourceRanges) > 0, servedByALoadBalancer},
		{"allocateLoadBalancerNodePorts", service.AllocateLoadBalancerNodePorts != nil, servedByALoadBalancer},
		{"healthCheckNodePort", service.HealthCheckNodePort != 0, servedByALoadBalancer},
	} {
		if f.set {
			errs = append(errs, forbidUnless(serviceType, f.types, path.Child(f.name))...)
		}
	}
	return errs
}

func forbidUnless(serviceType model.ServiceType, types []model.ServiceType, path *field.Path) field.ErrorList {
	if slices.Contains(types, serviceType) {
		return nil
	}
	var names []string
	for _, t := range types {
		names = append(names, string(t))
	}
	detail := fmt.Sprintf("needs serviceType %s, and serviceType is %s", strings.Join(names, " or "), serviceType)
	return field.ErrorList{field.Forbidden(path, detail)}
}

func validateSessionAffinity(service *model.ModelBoxService, path *field.Path) field.ErrorList {
	errs := validate.OptionalEnum(service.SessionAffinity, sessionAffinities, path.Child("sessionAffinity"))
	config, configPath := service.SessionAffinityConfig, path.Child("sessionAffinityConfig")
	if config == nil || len(errs) > 0 {
		return errs
	}
	if service.SessionAffinity != corev1.ServiceAffinityClientIP {
		detail := fmt.Sprintf("may only be given with sessionAffinity %s", corev1.ServiceAffinityClientIP)
		return field.ErrorList{field.Forbidden(configPath, detail)}
	}
	timeoutPath := configPath.Child("clientIP", "timeoutSeconds")
	if config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil {
		return field.ErrorList{field.Required(timeoutPath, "is all that there is to configure")}
	}
	timeout := *config.ClientIP.TimeoutSeconds
	if timeout < 1 || timeout > maxAffinitySeconds {
		return field.ErrorList{field.Invalid(timeoutPath, timeout, fmt.Sprintf("must be between 1 and %d", maxAffinitySeconds))}
	}
	return nil
}

// maxAffinitySeconds is one day, which is Kubernetes' limit.
const maxAffinitySeconds = 86400

func validateLoadBalancer(service *model.ModelBoxService, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if class := service.LoadBalancerClass; class != nil {
		errs = append(errs, validate.Format(*class, content.IsLabelKey, path.Child("loadBalancerClass"))...)
	}
	for i, cidr := range validate.Each(service.LoadBalancerSourceRanges, &errs) {
		errs = append(errs, validateSourceRange(cidr, path.Child("loadBalancerSourceRanges").Index(i))...)
	}
	port, portPath := service.HealthCheckNodePort, path.Child("healthCheckNodePort")
	if port == 0 {
		return errs
	}
	if service.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		detail := fmt.Sprintf("may only be given with externalTrafficPolicy %s", corev1.ServiceExternalTrafficPolicyLocal)
		errs = append(errs, field.Forbidden(portPath, detail))
	}
	return append(errs, validate.Invalid(portPath, port, validation.IsValidPortNum(int(port)))...)
}

// validateSourceRange takes white space around a network, as the Service API does.
func validateSourceRange(cidr string, path *field.Path) field.ErrorList {
	return validation.IsValidCIDRForLegacyField(path, strings.TrimSpace(cidr), true, nil)
}

func validateIPFamilies(service *model.ModelBoxService, path *field.Path) field.ErrorList {
	policyPath := path.Child("ipFamilyPolicy")
	errs := validate.EnumPointer(service.IPFamilyPolicy, ipFamilyPolicies, policyPath)
	families := validate.Unique[corev1.IPFamily]{}
	for i, family := range validate.Each(service.IPFamilies, &errs) {
		familyPath := path.Child("ipFamilies").Index(i)
		errs = append(errs, validate.Enum(family, ipFamilies, familyPath)...)
		errs = append(errs, families.Add(family, familyPath)...)
	}
	isDualStack := service.IPFamilyPolicy != nil && slices.Contains(dualStackPolicies, *service.IPFamilyPolicy)
	switch {
	case len(errs) > 0:
		return errs
	case len(service.IPFamilies) == 2 && !isDualStack:
		return field.ErrorList{field.Invalid(policyPath, service.IPFamilyPolicy, "must be PreferDualStack or RequireDualStack for two ipFamilies")}
	case len(service.IPFamilies) == 1 && isDualStack:
		// The cluster would add the other one, which is not the box's then, and which the box would take out again.
		detail := fmt.Sprintf("must be both for ipFamilyPolicy %s, or none to let the cluster choose", *service.IPFamilyPolicy)
		return field.ErrorList{field.Invalid(path.Child("ipFamilies"), service.IPFamilies, detail)}
	default:
		return nil
	}
}

func validateOptionalPointer[T ~string](value *T, choices []T, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return validate.Enum(*value, choices, path)
}
