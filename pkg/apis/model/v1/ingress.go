// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxIngress is the Ingress of a box, which routes HTTP from outside of the cluster to its Service.
type ModelBoxIngress struct {
	// hosts are the DNS names that clients ask for, in lower case; the first label may be "*". Defaults to none, which is
	// any name.
	//
	// Example: [shop.example.com]
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:listType=set
	// +k8s:validation:maxItems=64
	Hosts []string `json:"hosts,omitempty" protobuf:"bytes,1,rep,name=hosts"`

	// path is what the paths of the requests match, as pathType says. It begins with "/" unless that is
	// "ImplementationSpecific". Defaults to "/".
	//
	// Example: /api
	// +optional
	Path string `json:"path,omitempty" protobuf:"bytes,2,opt,name=path"`

	// pathType is "Prefix" for the paths that begin with the elements of path, "Exact" for path alone, or
	// "ImplementationSpecific" for what the class makes of it. Defaults to "Prefix".
	//
	// Example: Exact
	// +optional
	// +k8s:opaqueType
	PathType networkingv1.PathType `json:"pathType,omitempty" protobuf:"bytes,3,opt,name=pathType,casttype=k8s.io/api/networking/v1.PathType"`

	// port is the number or the name of the one of spec.ports that the requests go to, which has protocol TCP. Defaults to
	// the first such port, which follows the ports and is not stored.
	//
	// Example: http
	// +optional
	// +k8s:opaqueType
	Port *intstr.IntOrString `json:"port,omitempty" protobuf:"bytes,4,opt,name=port"`

	// className is the IngressClass. Defaults to none, which is the cluster's default class.
	//
	// Example: nginx
	// +optional
	ClassName *string `json:"className,omitempty" protobuf:"bytes,5,opt,name=className"`

	// tls is the certificate of the hosts. Defaults to none, which is plain HTTP.
	//
	// Example: {secretName: shop-tls}
	// +optional
	// +k8s:optional
	TLS *ModelBoxIngressTLS `json:"tls,omitempty" protobuf:"bytes,6,opt,name=tls"`

	// annotations are further annotations of the Ingress, such as those that its class is configured by. Defaults to none.
	//
	// Example: {example.com/rate-limit: "10"}
	// +optional
	// +k8s:validation:maxProperties=1024
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,7,rep,name=annotations"`

	// paths are further paths, each with the port that its requests go to. All hosts have them. Defaults to none.
	//
	// Example: [{path: /metrics, port: metrics}]
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:validation:maxItems=64
	Paths []ModelBoxIngressPath `json:"paths,omitempty" protobuf:"bytes,8,rep,name=paths"`
}

// ModelBoxIngressPath is a path of an Ingress and the port that its requests go to.
type ModelBoxIngressPath struct {
	// path is the path that requests must match. It begins with "/" unless pathType is "ImplementationSpecific". Required.
	//
	// Example: /metrics
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`

	// pathType is the type of path: "Prefix" matches paths that begin with the elements of path, "Exact" matches only path, and
	// "ImplementationSpecific" depends on the class. Defaults to "Prefix".
	//
	// Example: Exact
	// +optional
	// +k8s:opaqueType
	PathType networkingv1.PathType `json:"pathType,omitempty" protobuf:"bytes,2,opt,name=pathType,casttype=k8s.io/api/networking/v1.PathType"`

	// port is the number or the name of one of spec.ports with protocol TCP. Defaults to the first such port. The default is not
	// stored.
	//
	// Example: metrics
	// +optional
	// +k8s:opaqueType
	Port *intstr.IntOrString `json:"port,omitempty" protobuf:"bytes,3,opt,name=port"`
}

// ModelBoxIngressTLS is the certificate of the hosts of an Ingress.
type ModelBoxIngressTLS struct {
	// secretName is a Secret of type kubernetes.io/tls in the box's namespace. Defaults to none, which leaves the choice to
	// the class.
	//
	// Example: shop-tls
	// +optional
	// +k8s:optional
	// +k8s:format=k8s-long-name
	SecretName string `json:"secretName,omitempty" protobuf:"bytes,1,opt,name=secretName"`
}
