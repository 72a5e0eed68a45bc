// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// maxAffinitySeconds is one day.
const maxAffinitySeconds = 86400

var (
	protocols        = []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
	serviceTypes     = []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer}
	affinities       = []corev1.ServiceAffinity{corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone}
	externalPolicies = []corev1.ServiceExternalTrafficPolicy{
		corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal,
	}
	internalPolicies = []corev1.ServiceInternalTrafficPolicy{
		corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal,
	}
	ipFamilies       = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	ipFamilyPolicies = []corev1.IPFamilyPolicy{
		corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack,
	}
	trafficDistributions = []string{
		corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone,
		corev1.ServiceTrafficDistributionPreferSameNode,
	}
)

// ValidateService returns what the Service API refuses of the annotations and the spec of a Service that selects pods.
// Its type is ClusterIP, NodePort or LoadBalancer, and its addresses are left to the cluster, or None.
func ValidateService(service *corev1.Service) field.ErrorList {
	annotations, spec := field.NewPath("metadata", "annotations"), field.NewPath("spec")
	return slices.Concat(
		apivalidation.ValidateAnnotations(service.Annotations, annotations),
		ValidateServiceAnnotations(service, annotations.Key),
		metav1validation.ValidateLabels(service.Spec.Selector, spec.Child("selector")),
		validateServiceType(&service.Spec, spec),
		validateSomeServicePort(&service.Spec, spec.Child("ports")),
		ValidateServicePorts(&service.Spec, spec.Child("ports")),
		ValidateServiceOptions(&service.Spec, spec),
	)
}

func validateServiceType(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	errs := validate.OptionalEnum(spec.Type, serviceTypes, path.Child("type"))
	isHeadless := spec.ClusterIP == corev1.ClusterIPNone
	if isHeadless && (spec.Type == corev1.ServiceTypeNodePort || spec.Type == corev1.ServiceTypeLoadBalancer) {
		detail := fmt.Sprintf("may not be set to 'None' for %s services", spec.Type)
		errs = append(errs, field.Invalid(path.Child("clusterIPs").Index(0), spec.ClusterIP, detail))
	}
	return errs
}

func validateSomeServicePort(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	if len(spec.Ports) > 0 || spec.ClusterIP == corev1.ClusterIPNone {
		return nil
	}
	return field.ErrorList{field.Required(path, "")}
}

// ValidateServiceAnnotations returns what is wrong with the annotations that mean something to the Service API. pathOf
// returns the path of an annotation.
func ValidateServiceAnnotations(service *corev1.Service, pathOf func(key string) *field.Path) field.ErrorList {
	const hintsKey, modeKey = corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode
	var errs field.ErrorList
	hints, hasHints := service.Annotations[hintsKey]
	if mode, hasMode := service.Annotations[modeKey]; hasMode && hasHints && mode != hints {
		errs = append(errs, field.Invalid(pathOf(modeKey), mode, fmt.Sprintf("must match annotations[%s] when both are specified", hintsKey)))
	}
	ranges, hasRanges := service.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	if hasRanges && len(service.Spec.LoadBalancerSourceRanges) == 0 {
		path := pathOf(corev1.AnnotationLoadBalancerSourceRangesKey)
		errs = append(errs, validateSourceRangesAnnotation(ranges, service.Spec.Type, path)...)
	}
	return errs
}

func validateSourceRangesAnnotation(ranges string, serviceType corev1.ServiceType, path *field.Path) field.ErrorList {
	errs := forbidUnlessLoadBalancer(true, serviceType, path)
	if strings.TrimSpace(ranges) == "" {
		return errs
	}
	for _, cidr := range validate.Each(strings.Split(ranges, ","), &errs) {
		errs = append(errs, validateSourceRange(cidr, path)...)
	}
	return errs
}

// ValidateServicePorts returns what is wrong with the ports of a Service, which are at path. The range of the node ports
// that a cluster gives out is not known here.
func ValidateServicePorts(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, numbers, nodePorts := validate.Unique[string]{}, validate.Unique[string]{}, validate.Unique[string]{}
	for i := range validate.Each(spec.Ports, &errs) {
		port, portPath := &spec.Ports[i], path.Index(i)
		protocol := cmp.Or(port.Protocol, corev1.ProtocolTCP)
		errs = append(errs, slices.Concat(
			validateServicePort(port, len(spec.Ports) > 1, portPath),
			validateNodePort(port.NodePort, spec.Type, portPath.Child("nodePort")),
			names.Add(port.Name, portPath.Child("name")),
			numbers.Add(fmt.Sprintf("%d/%s", port.Port, protocol), portPath),
		)...)
		if port.NodePort != 0 {
			errs = append(errs, nodePorts.Add(fmt.Sprintf("%d/%s", port.NodePort, protocol), portPath.Child("nodePort"))...)
		}
	}
	return errs
}

// validateServicePort takes a target port of 0 for the number of the port.
func validateServicePort(port *corev1.ServicePort, requireName bool, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Invalid(path.Child("port"), port.Port, validation.IsValidPortNum(int(port.Port))),
		validate.OptionalEnum(port.Protocol, protocols, path.Child("protocol")),
	)
	if port.AppProtocol != nil {
		errs = append(errs, validate.Format(*port.AppProtocol, content.IsLabelKey, path.Child("appProtocol"))...)
	}
	if requireName || port.Name != "" {
		errs = append(errs, validate.Format(port.Name, validation.IsDNS1123Label, path.Child("name"))...)
	}
	if port.TargetPort != intstr.FromInt32(0) && port.TargetPort != intstr.FromString("") {
		errs = append(errs, ValidatePortNumOrName(port.TargetPort, path.Child("targetPort"))...)
	}
	return errs
}

func validateNodePort(nodePort int32, serviceType corev1.ServiceType, path *field.Path) field.ErrorList {
	switch {
	case nodePort == 0:
		return nil
	case serviceType == corev1.ServiceTypeClusterIP || serviceType == "":
		return field.ErrorList{field.Forbidden(path, "may not be used when `type` is 'ClusterIP'")}
	}
	return validate.Invalid(path, nodePort, validation.IsValidPortNum(int(nodePort)))
}

// ValidateServiceOptions returns what is wrong with the fields of a Service beyond its ports, its type and its selector.
// They are below path.
func ValidateServiceOptions(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateSessionAffinity(spec, path),
		validateExternalTrafficPolicy(spec, path),
		validate.EnumPointer(spec.InternalTrafficPolicy, internalPolicies, path.Child("internalTrafficPolicy")),
		validateLoadBalancer(spec, path),
		validateIPFamilies(spec, path),
		validate.EnumPointer(spec.TrafficDistribution, trafficDistributions, path.Child("trafficDistribution")),
	)
}

func validateSessionAffinity(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	errs := validate.OptionalEnum(spec.SessionAffinity, affinities, path.Child("sessionAffinity"))
	config, configPath := spec.SessionAffinityConfig, path.Child("sessionAffinityConfig")
	if config == nil || len(errs) > 0 {
		return errs
	}
	if spec.SessionAffinity != corev1.ServiceAffinityClientIP {
		detail := fmt.Sprintf("must not be set when session affinity is %s", corev1.ServiceAffinityNone)
		return field.ErrorList{field.Forbidden(configPath, detail)}
	}
	timeoutPath := configPath.Child("clientIP", "timeoutSeconds")
	if config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil {
		detail := fmt.Sprintf("when session affinity type is %s", corev1.ServiceAffinityClientIP)
		return field.ErrorList{field.Required(timeoutPath, detail)}
	}
	timeout := *config.ClientIP.TimeoutSeconds
	if timeout < 1 || timeout > maxAffinitySeconds {
		return field.ErrorList{field.Invalid(timeoutPath, timeout, fmt.Sprintf("must be greater than 0 and less than %d", maxAffinitySeconds))}
	}
	return nil
}

func validateExternalTrafficPolicy(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	policy, policyPath := spec.ExternalTrafficPolicy, path.Child("externalTrafficPolicy")
	errs := validate.OptionalEnum(policy, externalPolicies, policyPath)
	if policy != "" && spec.Type != corev1.ServiceTypeNodePort && spec.Type != corev1.ServiceTypeLoadBalancer {
		return field.ErrorList{field.Forbidden(policyPath, "may only be set when `type` is 'NodePort' or 'LoadBalancer'")}
	}
	return errs
}

func validateLoadBalancer(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	classPath, rangesPath := path.Child("loadBalancerClass"), path.Child("loadBalancerSourceRanges")
	errs := slices.Concat(
		forbidUnlessLoadBalancer(spec.LoadBalancerClass != nil, spec.Type, classPath),
		forbidUnlessLoadBalancer(len(spec.LoadBalancerSourceRanges) > 0, spec.Type, rangesPath),
		forbidUnlessLoadBalancer(spec.AllocateLoadBalancerNodePorts != nil, spec.Type, path.Child("allocateLoadBalancerNodePorts")),
		validateHealthCheckNodePort(spec, path.Child("healthCheckNodePort")),
	)
	if spec.LoadBalancerClass != nil && spec.Type == corev1.ServiceTypeLoadBalancer {
		errs = append(errs, validate.Format(*spec.LoadBalancerClass, content.IsLabelKey, classPath)...)
	}
	for i, cidr := range validate.Each(spec.LoadBalancerSourceRanges, &errs) {
		errs = append(errs, validateSourceRange(cidr, rangesPath.Index(i))...)
	}
	return errs
}

func forbidUnlessLoadBalancer(set bool, serviceType corev1.ServiceType, path *field.Path) field.ErrorList {
	if !set || serviceType == corev1.ServiceTypeLoadBalancer {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "may only be used when `type` is 'LoadBalancer'")}
}

func validateHealthCheckNodePort(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	port, isLocal := spec.HealthCheckNodePort, spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
	switch {
	case port == 0:
		return nil
	case spec.Type != corev1.ServiceTypeLoadBalancer || !isLocal:
		return field.ErrorList{field.Forbidden(path, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")}
	}
	return validate.Invalid(path, port, validation.IsValidPortNum(int(port)))
}

// validateSourceRange takes white space around a network.
func validateSourceRange(cidr string, path *field.Path) field.ErrorList {
	return validation.IsValidCIDRForLegacyField(path, strings.TrimSpace(cidr), true, nil)
}

// validateIPFamilies refuses two families without a policy that allows two as well, as the allocation of addresses does.
func validateIPFamilies(spec *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	policyPath := path.Child("ipFamilyPolicy")
	errs := validate.EnumPointer(spec.IPFamilyPolicy, ipFamilyPolicies, policyPath)
	families := validate.Unique[corev1.IPFamily]{}
	for i, family := range validate.Each(spec.IPFamilies, &errs) {
		familyPath := path.Child("ipFamilies").Index(i)
		errs = append(errs, validate.Enum(family, ipFamilies, familyPath)...)
		errs = append(errs, families.Add(family, familyPath)...)
	}
	if len(errs) == 0 && len(spec.IPFamilies) == 2 && !IsDualStack(spec.IPFamilyPolicy) {
		return field.ErrorList{field.Invalid(policyPath, spec.IPFamilyPolicy, "must be RequireDualStack or PreferDualStack when multiple 'ipFamilies' are specified")}
	}
	return errs
}

// IsDualStack returns whether the policy allows a Service to have addresses of two families.
func IsDualStack(policy *corev1.IPFamilyPolicy) bool {
	return policy != nil && (*policy == corev1.IPFamilyPolicyPreferDualStack || *policy == corev1.IPFamilyPolicyRequireDualStack)
}
