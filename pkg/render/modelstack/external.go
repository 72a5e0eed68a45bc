// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applydiscoveryv1 "k8s.io/client-go/applyconfigurations/discovery/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// external returns the Service of an external component, with the name that a box of the component would have: an ExternalName
// Service for a DNS name, or a Service and its EndpointSlice for an IP address. It returns nothing for a component that is a box.
func external(metadata *applymetav1.ObjectMetaApplyConfiguration, component *modelv1.ModelStackComponent) []runtime.ApplyConfiguration {
	if component.External == nil {
		return nil
	}
	host, port := component.External.Host, component.External.Port
	spec := applycorev1.ServiceSpec().WithPorts(applycorev1.ServicePort().
		WithPort(port).
		WithProtocol(corev1.ProtocolTCP).
		WithTargetPort(intstr.FromInt32(port)))
	service := applycorev1.Service(component.BoxName, *metadata.Namespace).WithSpec(spec)
	service.ObjectMetaApplyConfiguration = metadata
	address, err := netip.ParseAddr(host)
	if err != nil {
		spec.WithType(corev1.ServiceTypeExternalName).WithExternalName(host)
		return []runtime.ApplyConfiguration{service}
	}
	spec.WithType(corev1.ServiceTypeClusterIP)
	return []runtime.ApplyConfiguration{service, endpointSlice(metadata, address, port)}
}

// endpointSlice returns the EndpointSlice of the Service, with the IP address as its only endpoint.
func endpointSlice(metadata *applymetav1.ObjectMetaApplyConfiguration, address netip.Addr, port int32) *applydiscoveryv1.EndpointSliceApplyConfiguration {
	addressType := discoveryv1.AddressTypeIPv4
	if address.Is6() {
		addressType = discoveryv1.AddressTypeIPv6
	}
	slice := applydiscoveryv1.EndpointSlice(*metadata.Name, *metadata.Namespace).
		WithLabels(metadata.Labels).
		WithLabels(map[string]string{
			discoveryv1.LabelServiceName: *metadata.Name,
			discoveryv1.LabelManagedBy:   render.ManagedBy,
		}).
		WithAnnotations(metadata.Annotations).
		WithAddressType(addressType).
		WithEndpoints(applydiscoveryv1.Endpoint().WithAddresses(address.String())).
		WithPorts(applydiscoveryv1.EndpointPort().WithPort(port).WithProtocol(corev1.ProtocolTCP))
	for i := range metadata.OwnerReferences {
		slice.WithOwnerReferences(&metadata.OwnerReferences[i])
	}
	return slice
}
