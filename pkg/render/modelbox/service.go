// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// service returns the Service of a box. traffic is which pods it leads to, nil for all.
func service(box *modelv1.ModelBox, traffic *modelv1.ModelBoxRolloutTraffic) *applycorev1.ServiceApplyConfiguration {
	spec := applycorev1.ServiceSpec().WithSelector(trafficSelector(box, traffic))
	switch serviceType := helper.EffectiveServiceType(box.Spec.ServiceType, box.Spec.Ports); serviceType {
	case modelv1.ServiceTypeHeadless:
		spec.WithType(corev1.ServiceTypeClusterIP).WithClusterIP(corev1.ClusterIPNone)
	default:
		spec.WithType(corev1.ServiceType(serviceType))
	}
	for i := range box.Spec.Ports {
		spec.WithPorts(servicePort(&box.Spec.Ports[i]))
	}
	service := applycorev1.Service(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec)
	if options := box.Spec.Service; options != nil {
		service.WithLabels(options.Labels).WithAnnotations(options.Annotations)
		setServiceOptions(spec, options)
	}
	return service
}

// setServiceOptions sets the options in the box. Other options have the defaults of Kubernetes.
func setServiceOptions(spec *applycorev1.ServiceSpecApplyConfiguration, options *modelv1.ModelBoxService) {
	if options.SessionAffinity != "" {
		spec.WithSessionAffinity(options.SessionAffinity)
	}
	if config := options.SessionAffinityConfig; config != nil {
		spec.WithSessionAffinityConfig(applycorev1.SessionAffinityConfig().
			WithClientIP(applycorev1.ClientIPConfig().WithTimeoutSeconds(*config.ClientIP.TimeoutSeconds)))
	}
	if options.ExternalTrafficPolicy != "" {
		spec.WithExternalTrafficPolicy(options.ExternalTrafficPolicy)
	}
	if options.HealthCheckNodePort != 0 {
		spec.WithHealthCheckNodePort(options.HealthCheckNodePort)
	}
	if options.PublishNotReadyAddresses {
		spec.WithPublishNotReadyAddresses(true)
	}
	spec.InternalTrafficPolicy = options.InternalTrafficPolicy
	spec.LoadBalancerClass = options.LoadBalancerClass
	spec.LoadBalancerSourceRanges = options.LoadBalancerSourceRanges
	spec.AllocateLoadBalancerNodePorts = options.AllocateLoadBalancerNodePorts
	spec.IPFamilies = options.IPFamilies
	spec.IPFamilyPolicy = options.IPFamilyPolicy
	spec.TrafficDistribution = options.TrafficDistribution
}

func servicePort(port *corev1.ServicePort) *applycorev1.ServicePortApplyConfiguration {
	configuration := applycorev1.ServicePort().
		WithPort(port.Port).
		WithProtocol(port.Protocol).
		WithTargetPort(port.TargetPort)
	if port.Name != "" {
		configuration.WithName(port.Name)
	}
	if port.NodePort != 0 {
		configuration.WithNodePort(port.NodePort)
	}
	if port.AppProtocol != nil {
		configuration.WithAppProtocol(*port.AppProtocol)
	}
	return configuration
}
