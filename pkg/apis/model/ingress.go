// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ModelBoxIngress is the Ingress of a box, which routes HTTP from outside of the cluster to its Service.
type ModelBoxIngress struct {
	Hosts       []string
	Path        string
	PathType    networkingv1.PathType
	Port        *intstr.IntOrString
	ClassName   *string
	TLS         *ModelBoxIngressTLS
	Annotations map[string]string
	Paths       []ModelBoxIngressPath
}

// ModelBoxIngressPath is a path of an Ingress and the port that its requests go to.
type ModelBoxIngressPath struct {
	Path     string
	PathType networkingv1.PathType
	Port     *intstr.IntOrString
}

// ModelBoxIngressTLS is the certificate of the hosts of an Ingress.
type ModelBoxIngressTLS struct {
	SecretName string
}
