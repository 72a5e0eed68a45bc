// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestAcceptedBoxesHaveAcceptedIngresses is like TestAcceptedBoxesHaveAcceptedChildren, for Ingresses.
func TestAcceptedBoxesHaveAcceptedIngresses(t *testing.T) {
	t.Parallel()
	expectAcceptedChildren(t, randomIngress)
}

func randomIngress(seed uint64) *modelv1.ModelBox {
	random := rand.New(rand.NewPCG(seed, 0))
	box := framework.NewBox("web", framework.WithPorts(
		corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP},
		corev1.ServicePort{Name: "http", Port: 80},
	))
	box.Spec.Ingress = &modelv1.ModelBoxIngress{}
	for range 1 + random.IntN(changesOfABox) {
		randomIngressChanges[random.IntN(len(randomIngressChanges))](random, box.Spec.Ingress)
	}
	return box
}

var randomIngressChanges = []func(*rand.Rand, *modelv1.ModelBoxIngress){
	func(r *rand.Rand, i *modelv1.ModelBoxIngress) {
		i.Hosts = append(i.Hosts, pick(r, "a.example.com", "b", "*.example.com", "*", "a*.example.com", "A.example.com", "192.0.2.1", "2001:db8::1",
			"a_b.example.com", "a.example.com.", "", strings.Repeat("a.", 127)+"a", "*."+strings.Repeat("a.", 127)+"a"))
	},
	func(r *rand.Rand, i *modelv1.ModelBoxIngress) {
		i.PathType = pick(r, networkingv1.PathTypePrefix, networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, "Regex")
		i.Path = pick(r, "", "/", "/a", "/a/", "a", "/a//b", "/./a", "/a/.", "/a/..", "/..", "/a%2Fb", "/a b", "/(.*)", "/a?b=c", "/ä")
	},
	func(r *rand.Rand, i *modelv1.ModelBoxIngress) {
		i.Port = ptr.To(intstr.Parse(pick(r, "80", "http", "53", "dns", "0", "-1", "65536", "Http")))
	},
	func(r *rand.Rand, i *modelv1.ModelBoxIngress) {
		i.ClassName = ptr.To(pick(r, "nginx", "nginx.internal", "", "Nginx", "a/b", strings.Repeat("a", 254)))
	},
	func(r *rand.Rand, i *modelv1.ModelBoxIngress) {
		i.TLS = &modelv1.ModelBoxIngressTLS{SecretName: pick(r, "", "tls", "tls.example.com", "Tls", "a_b")}
	},
	func(r *rand.Rand, i *modelv1.ModelBoxIngress) {
		i.Annotations = map[string]string{pick(r, "a", "example.com/a", "no key", "kubernetes.io/ingress.class"): pick(r, "", "nginx", "a b")}
	},
}
