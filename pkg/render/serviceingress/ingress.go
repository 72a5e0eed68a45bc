// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	applynetworkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// ServiceKind is the kind of Services in the owner references of Ingresses.
var ServiceKind = corev1.SchemeGroupVersion.WithKind("Service")

// Ingress returns the Ingress of a Service for server-side apply. The Service must ask for an Ingress and be valid, see
// AsksForIngress and Validate.
func Ingress(service *corev1.Service, defaults Defaults) (*unstructured.Unstructured, error) {
	port := applynetworkingv1.ServiceBackendPort().WithNumber(portOf(service).Port)
	backend := applynetworkingv1.IngressBackend().
		WithService(applynetworkingv1.IngressServiceBackend().WithName(service.Name).WithPort(port))
	rule := applynetworkingv1.IngressRule().
		WithHTTP(applynetworkingv1.HTTPIngressRuleValue().WithPaths(applynetworkingv1.HTTPIngressPath().
			WithPath(pathOf(service)).
			WithPathType(networkingv1.PathTypePrefix).
			WithBackend(backend)))
	if host := defaults.host(service); host != "" {
		rule.WithHost(host)
	}
	spec := applynetworkingv1.IngressSpec().WithRules(rule)
	if class := cmp.Or(service.Annotations[ClassAnnotation], defaults.Class); class != "" {
		spec.WithIngressClassName(class)
	}
	return render.WithHash(applynetworkingv1.Ingress(service.Name, service.Namespace).
		WithLabels(map[string]string{render.ManagedByLabel: render.ManagedBy}).
		WithOwnerReferences(render.OwnerReference(service, ServiceKind)).
		WithSpec(spec))
}

// host returns the host of the Service, empty for any host.
func (d Defaults) host(service *corev1.Service) string {
	return cmp.Or(service.Annotations[HostAnnotation], d.hostOf(service.Name, service.Namespace))
}

func pathOf(service *corev1.Service) string {
	return cmp.Or(service.Annotations[PathAnnotation], "/")
}

// portOf returns the first port of the Service that can serve HTTP, nil if there is none.
func portOf(service *corev1.Service) *corev1.ServicePort {
	for i := range service.Spec.Ports {
		if cmp.Or(service.Spec.Ports[i].Protocol, corev1.ProtocolTCP) == corev1.ProtocolTCP {
			return &service.Spec.Ports[i]
		}
	}
	return nil
}
