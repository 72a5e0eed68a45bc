// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
)

// validateService validates the ports of a box, and what its Service has beyond them. Which type the fields go with does
// not matter while there are no ports: there is no Service.
func validateService(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	service, servicePath := serviceOf(spec), path.Child("service")
	errs := slices.Concat(
		validatePorts(spec, &service.Spec, path.Child("ports")),
		corevalidation.ValidateServiceAnnotations(service, func(key string) *field.Path { return serviceAnnotationPath(spec, key, path) }),
		corevalidation.ValidateServiceOptions(&service.Spec, servicePath),
		validateSingleIPFamily(&service.Spec, servicePath.Child("ipFamilies")),
	)
	return withServiceType(errs, helper.EffectiveServiceType(spec.ServiceType, spec.Ports))
}

// serviceOf returns the Service of a box as far as it is validated, of type LoadBalancer for a box without ports: that one
// may have all fields.
func serviceOf(spec *model.ModelBoxSpec) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Annotations: serviceAnnotations(spec)},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: spec.Ports},
	}
	if len(spec.Ports) > 0 {
		service.Spec.Type = corev1.ServiceType(helper.EffectiveServiceType(spec.ServiceType, spec.Ports))
	}
	if service.Spec.Type == corev1.ServiceType(model.ServiceTypeHeadless) {
		service.Spec.Type, service.Spec.ClusterIP = corev1.ServiceTypeClusterIP, corev1.ClusterIPNone
	}
	if options := spec.Service; options != nil {
		service.Spec.SessionAffinity = options.SessionAffinity
		service.Spec.SessionAffinityConfig = options.SessionAffinityConfig
		service.Spec.ExternalTrafficPolicy = options.ExternalTrafficPolicy
		service.Spec.InternalTrafficPolicy = options.InternalTrafficPolicy
		service.Spec.LoadBalancerClass = options.LoadBalancerClass
		service.Spec.LoadBalancerSourceRanges = options.LoadBalancerSourceRanges
		service.Spec.AllocateLoadBalancerNodePorts = options.AllocateLoadBalancerNodePorts
		service.Spec.HealthCheckNodePort = options.HealthCheckNodePort
		service.Spec.IPFamilies = options.IPFamilies
		service.Spec.IPFamilyPolicy = options.IPFamilyPolicy
		service.Spec.TrafficDistribution = options.TrafficDistribution
	}
	return service
}

// validateSingleIPFamily refuses one family of a Service that may have two: the cluster would add the other one, which is
// not the box's then, and which the box would take out again.
func validateSingleIPFamily(service *corev1.ServiceSpec, path *field.Path) field.ErrorList {
	if len(service.IPFamilies) != 1 || !corevalidation.IsDualStack(service.IPFamilyPolicy) {
		return nil
	}
	detail := fmt.Sprintf("must be both for ipFamilyPolicy %s, or none to let the cluster choose", *service.IPFamilyPolicy)
	return field.ErrorList{field.Invalid(path, service.IPFamilies, detail)}
}

// withServiceType puts the field of a box for the type of its Service into errors about a Service.
func withServiceType(errs field.ErrorList, serviceType model.ServiceType) field.ErrorList {
	names := strings.NewReplacer("`type` is 'ClusterIP'", fmt.Sprintf("`serviceType` is '%s'", serviceType), "`type`", "`serviceType`")
	for _, err := range errs {
		err.Detail = names.Replace(err.Detail)
	}
	return errs
}
