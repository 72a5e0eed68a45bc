// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	networkingclient "k8s.io/client-go/kubernetes/typed/networking/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// WithIngress sets an Ingress with the hosts and the class, which may be empty.
func WithIngress(class string, hosts ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Ingress = &modelv1.ModelBoxIngress{Hosts: hosts}
		if class != "" {
			spec.Ingress.ClassName = &class
		}
	}
}

// Ingresses returns the client of the Ingresses in the namespace.
func (n *Namespace) Ingresses() networkingclient.IngressInterface {
	return n.ControlPlane.KubeClient.NetworkingV1().Ingresses(n.Name)
}

// AwaitIngress returns the Ingress as soon as check returns nil for it.
func (n *Namespace) AwaitIngress(name, what string, check func(*networkingv1.Ingress) error) *networkingv1.Ingress {
	n.T.Helper()
	var ingress *networkingv1.Ingress
	n.Eventually(fmt.Sprintf("Ingress %s %s", name, what), func() (err error) {
		if ingress, err = n.Ingresses().Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(ingress)
	})
	return ingress
}

// GiveAddress sets an address in the status of an Ingress, as an Ingress controller does.
func (n *Namespace) GiveAddress(name, ip string) {
	n.T.Helper()
	ingress, err := n.Ingresses().Get(n.Ctx, name, metav1.GetOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: ip}}
	if _, err := n.Ingresses().UpdateStatus(n.Ctx, ingress, metav1.UpdateOptions{FieldManager: "ingress-controller"}); err != nil {
		n.T.Fatal(err)
	}
}
