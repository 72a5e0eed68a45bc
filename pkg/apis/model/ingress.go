// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxIngress is the Ingress of a box, which leads HTTP from outside of the cluster to its Service.
type ModelBoxIngress struct {
	Hosts       []string
	Path        string
	PathType    networkingv1.PathType
	Port        *intstr.IntOrString
	ClassName   *string
	TLS         *ModelBoxIngressTLS
	Annotations map[string]string
}

// ModelBoxIngressTLS is the certificate of the hosts of an Ingress.
type ModelBoxIngressTLS struct {
	SecretName string
}

// ModelBoxRoute is the HTTPRoute of a box, which leads HTTP from the Gateways that it names to the Service.
type ModelBoxRoute struct {
	ParentRefs []RouteParentReference
	Hosts      []string
	Path       string
	PathType   networkingv1.PathType
	Port       *intstr.IntOrString
}

// RouteParentReference names an object that a route is attached to, as gateway.networking.k8s.io has it.
type RouteParentReference struct {
	Group       string
	Kind        string
	Namespace   string
	Name        string
	SectionName string
	Port        *int32
}
