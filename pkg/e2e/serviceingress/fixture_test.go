// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// newControlPlane returns a control plane whose server runs the controller with the permissions of the component, and these flags
// of localcluster besides.
func newControlPlane(t *testing.T, flags ...string) *framework.ControlPlane {
	t.Helper()
	return framework.NewServiceIngressControlPlane(t, append(flags, framework.ServerFlags(
		"--service-ingress-class=public",
		"--service-ingress-host-pattern={name}.{namespace}.example.com",
	)...)...)
}

// newService returns a Service with one port and these annotations, as "name=value".
func newService(name string, annotations ...string) *corev1.Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	for _, annotation := range annotations {
		name, value, _ := strings.Cut(annotation, "=")
		metav1.SetMetaDataAnnotation(&service.ObjectMeta, name, value)
	}
	return service
}

// create creates Service web with these annotations.
func create(n *framework.Namespace, annotations ...string) *corev1.Service {
	n.T.Helper()
	service, err := n.Services.Create(n.Ctx, newService("web", annotations...), metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	return service
}

// annotate sets annotations of Service web, and removes annotations that end in "-", like kubectl annotate.
func annotate(n *framework.Namespace, annotations ...string) {
	n.T.Helper()
	n.Kubectl.Run(append([]string{"annotate", "--overwrite", "service", "web"}, annotations...)...)
}

// describe returns an Ingress in one line, as "class host/path -> service:port".
func describe(ingress *networkingv1.Ingress) string {
	var rules []string
	for _, rule := range ingress.Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			rules = append(rules, fmt.Sprintf("%s%s -> %s:%d", rule.Host, path.Path, path.Backend.Service.Name, path.Backend.Service.Port.Number))
		}
	}
	return ptr.Deref(ingress.Spec.IngressClassName, "") + " " + strings.Join(rules, ", ")
}

func getIngress(n *framework.Namespace) (*networkingv1.Ingress, error) {
	return getIngressNamed(n, "web")
}

func getIngressNamed(n *framework.Namespace, name string) (*networkingv1.Ingress, error) {
	return n.ControlPlane.KubeClient.NetworkingV1().Ingresses(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
}

// awaitIngress waits until Ingress web is as wanted, and returns it. NAMESPACE represents the namespace of the test.
func awaitIngress(n *framework.Namespace, want string) *networkingv1.Ingress {
	n.T.Helper()
	return awaitIngressNamed(n, "web", want)
}

// awaitIngressNamed is like awaitIngress, for another name.
func awaitIngressNamed(n *framework.Namespace, name, want string) *networkingv1.Ingress {
	n.T.Helper()
	want = strings.ReplaceAll(want, "NAMESPACE", n.Name)
	var ingress *networkingv1.Ingress
	n.Eventually("the Ingress is "+want, func() (err error) {
		if ingress, err = getIngressNamed(n, name); err != nil {
			return err
		}
		if got := describe(ingress); got != want {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
	return ingress
}

// awaitNoIngress waits until there is no Ingress web.
func awaitNoIngress(n *framework.Namespace) {
	n.T.Helper()
	framework.Eventually(n.T, framework.CollectorPatience, "there is no Ingress", func() error {
		_, err := getIngress(n)
		return framework.CheckGone(err)
	})
}

// expectNoIngress checks that there is no Ingress after the server has had time to create it.
func expectNoIngress(n *framework.Namespace) {
	n.T.Helper()
	time.Sleep(2 * time.Second)
	if ingress, err := getIngress(n); !apierrors.IsNotFound(err) {
		n.T.Errorf("there is an Ingress: %s, %v", describe(ingress), err)
	}
}

// createForeign creates an Ingress web without a controller.
func createForeign(n *framework.Namespace) {
	n.T.Helper()
	n.Kubectl.Run("create", "ingress", "web", "--class=foreign", "--rule=foreign.example.com/*=foreign:1")
}

const foreign = "foreign foreign.example.com/ -> foreign:1"
