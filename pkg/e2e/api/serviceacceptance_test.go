// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// optionsOfAService is the maximum number of options of a random Service.
const optionsOfAService = 3

// TestAcceptedBoxesHaveAcceptedServices is like TestAcceptedBoxesHaveAcceptedChildren, for the options of Services other than ports
// and type.
func TestAcceptedBoxesHaveAcceptedServices(t *testing.T) {
	t.Parallel()
	expectAcceptedChildren(t, randomService)
}

func randomService(seed uint64) *modelv1.ModelBox {
	random := rand.New(rand.NewPCG(seed, 0))
	box := framework.NewBox("web", framework.WithPorts(corev1.ServicePort{Port: 80}))
	box.Spec.ServiceType = pick(random, modelv1.ServiceTypeClusterIP, modelv1.ServiceTypeHeadless, modelv1.ServiceTypeNodePort,
		modelv1.ServiceTypeLoadBalancer, modelv1.ServiceTypeLoadBalancer, modelv1.ServiceTypeLoadBalancer)
	box.Spec.Service = &modelv1.ModelBoxService{}
	for range 1 + random.IntN(optionsOfAService) {
		randomOptions[random.IntN(len(randomOptions))](random, box.Spec.Service)
	}
	return box
}

var randomOptions = []func(*rand.Rand, *modelv1.ModelBoxService){
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.Labels = map[string]string{pick(r, "team", "modelbox", "no key"): pick(r, "shop", "the shop", "")}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.Annotations = map[string]string{
			pick(r, "a", "no key", corev1.AnnotationLoadBalancerSourceRangesKey): pick(r, "203.0.113.0/24", "", "all", "10.0.0.0/8, 192.0.2.0/24"),
			pick(r, corev1.AnnotationTopologyMode, "b"):                          pick(r, "Auto", "Disabled"),
			pick(r, corev1.DeprecatedAnnotationTopologyAwareHints, "c"):          pick(r, "Auto", "Disabled"),
		}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.SessionAffinity = pick[corev1.ServiceAffinity](r, "ClientIP", "None", "Cookie")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.SessionAffinity = pick[corev1.ServiceAffinity](r, "ClientIP", "ClientIP", "None", "")
		s.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: pick(r, nil, &corev1.ClientIPConfig{
			TimeoutSeconds: pick(r, nil, ptr.To[int32](0), ptr.To[int32](1), ptr.To[int32](86400), ptr.To[int32](86401)),
		})}
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.ExternalTrafficPolicy = pick[corev1.ServiceExternalTrafficPolicy](r, "Local", "Cluster", "Global")
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.InternalTrafficPolicy = ptr.To(pick[corev1.ServiceInternalTrafficPolicy](r, "Local", "Cluster", "Global", ""))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.LoadBalancerClass = ptr.To(pick(r, "internal", "example.com/internal", "a b", ""))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.LoadBalancerSourceRanges = append(s.LoadBalancerSourceRanges,
			pick(r, "203.0.113.0/24", " 2001:db8::/32 ", "2001:DB8::/32", "203.0.113.1", "203.0.113.1/24", "010.0.0.0/8", "::ffff:192.0.2.0/120", ""))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.AllocateLoadBalancerNodePorts = ptr.To(pick(r, true, false))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.ExternalTrafficPolicy = pick[corev1.ServiceExternalTrafficPolicy](r, "Local", "Local", "Cluster", "")
		s.HealthCheckNodePort = pick[int32](r, 31001, 31002, -1, 65536)
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.IPFamilies = pick(r, nil, []corev1.IPFamily{"IPv4"}, []corev1.IPFamily{"IPv4", "IPv4"}, []corev1.IPFamily{"IPv5"})
		s.IPFamilyPolicy = pick(r, nil, ptr.To(corev1.IPFamilyPolicySingleStack), ptr.To(corev1.IPFamilyPolicyPreferDualStack), ptr.To[corev1.IPFamilyPolicy]("TripleStack"))
	},
	func(r *rand.Rand, s *modelv1.ModelBoxService) { s.PublishNotReadyAddresses = pick(r, true, false) },
	func(r *rand.Rand, s *modelv1.ModelBoxService) {
		s.TrafficDistribution = ptr.To(pick(r, "PreferClose", "PreferSameZone", "PreferSameNode", "Far", ""))
	},
}
