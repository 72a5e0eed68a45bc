// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// setService gives the box what its Service says. Services that a box cannot have stay as they are, and find the pods, which keep
// their labels.
func (c *conversion) setService(box *modelv1.ModelBox) {
	for i := range c.services {
		service := &c.services[i]
		switch {
		case service.Name != box.Name:
			c.add(note, "Service %s is not adopted: the Service of a box has the name of the box", service.Name)
			continue
		case len(service.OwnerReferences) > 0:
			c.add(note, "Service %s is not adopted: it is owned by %s %s", service.Name, service.OwnerReferences[0].Kind, service.OwnerReferences[0].Name)
			continue
		}
		if fields := inexpressible(&service.Spec); len(fields) > 0 {
			c.add(note, "Service %s is not adopted: a box has no field for %s", service.Name, fields[0])
			continue
		}
		setPorts(&box.Spec, &service.Spec)
	}
}

// inexpressible returns the fields of a Service that a box has nothing for.
func inexpressible(spec *corev1.ServiceSpec) []string {
	var fields []string
	for _, field := range []struct {
		name  string
		isSet bool
	}{
		{"spec.externalName", spec.ExternalName != ""},
		{"spec.externalIPs", len(spec.ExternalIPs) > 0},
		{"spec.loadBalancerIP", spec.LoadBalancerIP != ""}, //nolint:staticcheck // It is still in use.
	} {
		if field.isSet {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// setPorts sets the ports of a box and what else its Service has.
func setPorts(spec *modelv1.ModelBoxSpec, service *corev1.ServiceSpec) {
	spec.Ports = slices.Clone(service.Ports)
	hasNodePort := slices.ContainsFunc(spec.Ports, func(p corev1.ServicePort) bool { return p.NodePort != 0 })
	switch {
	case service.ClusterIP == corev1.ClusterIPNone:
		spec.ServiceType = modelv1.ServiceTypeHeadless
	case service.Type == corev1.ServiceTypeLoadBalancer, service.Type == corev1.ServiceTypeNodePort && !hasNodePort:
		spec.ServiceType = modelv1.ServiceType(service.Type)
	}
	options := &modelv1.ModelBoxService{
		HealthCheckNodePort:      service.HealthCheckNodePort,
		LoadBalancerClass:        service.LoadBalancerClass,
		LoadBalancerSourceRanges: service.LoadBalancerSourceRanges,
		PublishNotReadyAddresses: service.PublishNotReadyAddresses,
		TrafficDistribution:      service.TrafficDistribution,
	}
	if service.SessionAffinity == corev1.ServiceAffinityClientIP {
		options.SessionAffinity, options.SessionAffinityConfig = service.SessionAffinity, service.SessionAffinityConfig
	}
	if service.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		options.ExternalTrafficPolicy = service.ExternalTrafficPolicy
	}
	if ptr.Deref(service.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster) == corev1.ServiceInternalTrafficPolicyLocal {
		options.InternalTrafficPolicy = service.InternalTrafficPolicy
	}
	if !ptr.Deref(service.AllocateLoadBalancerNodePorts, true) {
		options.AllocateLoadBalancerNodePorts = service.AllocateLoadBalancerNodePorts
	}
	if policy := ptr.Deref(service.IPFamilyPolicy, corev1.IPFamilyPolicySingleStack); policy != corev1.IPFamilyPolicySingleStack {
		options.IPFamilyPolicy, options.IPFamilies = service.IPFamilyPolicy, service.IPFamilies
	}
	if !apiequality.Semantic.DeepEqual(options, &modelv1.ModelBoxService{}) {
		spec.Service = options
	}
}
