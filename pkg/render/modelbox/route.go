// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	applygatewayv1 "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// httpRoute returns the HTTPRoute of a box. Like an Ingress, it does not have the annotations of all children.
// candidateWeight is the percentage of the traffic for the candidate.
func httpRoute(box *modelv1.ModelBox, candidateWeight int32) *applygatewayv1.HTTPRouteApplyConfiguration {
	options := box.Spec.Route
	spec := applygatewayv1.HTTPRouteSpec()
	for _, rule := range routeRules(options) {
		spec.WithRules(httpRouteRule(box, &rule, candidateWeight))
	}
	for i := range options.ParentRefs {
		spec.WithParentRefs(parentReference(&options.ParentRefs[i]))
	}
	for _, host := range options.Hosts {
		spec.WithHostnames(gatewayv1.Hostname(host))
	}
	return applygatewayv1.HTTPRoute(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec)
}

// parentReference sets the defaults of the API server, because the references are compared with the live references as a whole.
func parentReference(parent *modelv1.RouteParentReference) *applygatewayv1.ParentReferenceApplyConfiguration {
	reference := applygatewayv1.ParentReference().
		WithGroup(gatewayv1.Group(cmp.Or(parent.Group, gatewayv1.GroupName))).
		WithKind(gatewayv1.Kind(cmp.Or(parent.Kind, "Gateway"))).
		WithName(gatewayv1.ObjectName(parent.Name))
	if parent.Namespace != "" {
		reference.WithNamespace(gatewayv1.Namespace(parent.Namespace))
	}
	if parent.SectionName != "" {
		reference.WithSectionName(gatewayv1.SectionName(parent.SectionName))
	}
	if parent.Port != nil {
		reference.WithPort(*parent.Port)
	}
	return reference
}
