// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// httpPort returns the number of the port of the Service that HTTP from outside of the cluster goes to. It is a number because the
// only port of a Service has no name.
func httpPort(box *modelv1.ModelBox, wanted *intstr.IntOrString) int32 {
	if port := helper.HTTPPort(box.Spec.Ports, wanted); port != nil {
		return port.Port
	}
	// The Service has the ports of the stable pods, see ingressBeside.
	return ptr.Deref(wanted, intstr.IntOrString{}).IntVal
}

// ingressBeside returns the Ingress of a box for a Service with the ports of its stable pods, which may lack ports of the box.
// Requests to these ports fail, as no pod has them, and all other requests are served.
func ingressBeside(now *modelv1.ModelBoxSpec, ports []corev1.ServicePort) *modelv1.ModelBoxIngress {
	ingress := now.Ingress.DeepCopy()
	if ingress == nil {
		return nil
	}
	ingress.Port = portBeside(now, ingress.Port, ports)
	for i := range ingress.Paths {
		ingress.Paths[i].Port = portBeside(now, ingress.Paths[i].Port, ports)
	}
	return ingress
}

// httpRouteBeside is like ingressBeside, for the HTTPRoute.
func httpRouteBeside(now *modelv1.ModelBoxSpec, ports []corev1.ServicePort) *modelv1.ModelBoxRoute {
	route := now.Route.DeepCopy()
	if route == nil {
		return nil
	}
	route.Port = portBeside(now, route.Port, ports)
	for i := range route.Rules {
		route.Rules[i].Port = portBeside(now, route.Rules[i].Port, ports)
	}
	return route
}

// grpcRouteBeside is like ingressBeside, for the GRPCRoute.
func grpcRouteBeside(now *modelv1.ModelBoxSpec, ports []corev1.ServicePort) *modelv1.ModelBoxGRPCRoute {
	route := now.GRPCRoute.DeepCopy()
	if route == nil {
		return nil
	}
	route.Port = portBeside(now, route.Port, ports)
	for i := range route.Rules {
		route.Rules[i].Port = portBeside(now, route.Rules[i].Port, ports)
	}
	return route
}

// portBeside returns the number of a port of the box that is not one of the ports. It returns all other ports unchanged.
func portBeside(now *modelv1.ModelBoxSpec, wanted *intstr.IntOrString, ports []corev1.ServicePort) *intstr.IntOrString {
	port := helper.HTTPPort(now.Ports, wanted)
	if port == nil || helper.HTTPPort(ports, wanted) != nil {
		return wanted
	}
	return ptr.To(intstr.FromInt32(port.Port))
}
