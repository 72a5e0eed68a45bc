// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// service changes what the Service of a box of the type has beyond.
func service(serviceType model.ServiceType, change func(*model.ModelBoxService)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.ServiceType = serviceType
		if box.Spec.Service == nil {
			box.Spec.Service = &model.ModelBoxService{}
		}
		change(box.Spec.Service)
	}
}

func affinity(affinity corev1.ServiceAffinity, timeout *int32) func(*model.ModelBoxService) {
	return func(s *model.ModelBoxService) {
		s.SessionAffinity = affinity
		s.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: timeout}}
	}
}

func externalPolicy(policy corev1.ServiceExternalTrafficPolicy) func(*model.ModelBoxService) {
	return func(s *model.ModelBoxService) { s.ExternalTrafficPolicy = policy }
}

func sourceRanges(ranges ...string) func(*model.ModelBoxService) {
	return func(s *model.ModelBoxService) { s.LoadBalancerSourceRanges = ranges }
}

func balancerClass(class string) func(*model.ModelBoxService) {
	return func(s *model.ModelBoxService) { s.LoadBalancerClass = &class }
}

func healthCheck(policy corev1.ServiceExternalTrafficPolicy, port int32) func(*model.ModelBoxService) {
	return func(s *model.ModelBoxService) { s.ExternalTrafficPolicy, s.HealthCheckNodePort = policy, port }
}

func families(policy corev1.IPFamilyPolicy, families ...corev1.IPFamily) func(*model.ModelBoxService) {
	return func(s *model.ModelBoxService) {
		s.IPFamilies = families
		if policy != "" {
			s.IPFamilyPolicy = &policy
		}
	}
}

func TestService(t *testing.T) {
	const (
		clusterIP    = model.ServiceTypeClusterIP
		nodePort     = model.ServiceTypeNodePort
		loadBalancer = model.ServiceTypeLoadBalancer
		headless     = model.ServiceTypeHeadless
		path         = "spec.service."
	)
	none := func(*model.ModelBoxService) {}
	check(t, []row{
		{"a Service that says nothing is accepted", service("", none), nil},

		{"sessionAffinity None is accepted", service(clusterIP, func(s *model.ModelBoxService) { s.SessionAffinity = "None" }), nil},
		{"sessionAffinity ClientIP is accepted", service(clusterIP, func(s *model.ModelBoxService) { s.SessionAffinity = "ClientIP" }), nil},
		{"sessionAffinity Cookie is refused", service(clusterIP, func(s *model.ModelBoxService) { s.SessionAffinity = "Cookie" }), []string{"Unsupported value: " + path + "sessionAffinity"}},
		{"a session lasts for a second", service(clusterIP, affinity("ClientIP", ptr.To[int32](1))), nil},
		{"a session lasts for a day", service(clusterIP, affinity("ClientIP", ptr.To[int32](86400))), nil},
		{"a session lasts no longer", service(clusterIP, affinity("ClientIP", ptr.To[int32](86401))), []string{"Invalid value: " + path + "sessionAffinityConfig.clientIP.timeoutSeconds"}},
		{"a session lasts for some time", service(clusterIP, affinity("ClientIP", ptr.To[int32](0))), []string{"Invalid value: " + path + "sessionAffinityConfig.clientIP.timeoutSeconds"}},
		{"how long a session lasts is said", service(clusterIP, affinity("ClientIP", nil)), []string{"Required value: " + path + "sessionAffinityConfig.clientIP.timeoutSeconds"}},
		{"an empty configuration of sessions says nothing", service(clusterIP, func(s *model.ModelBoxService) {
			s.SessionAffinity, s.SessionAffinityConfig = "ClientIP", &corev1.SessionAffinityConfig{}
		}), []string{"Required value: " + path + "sessionAffinityConfig.clientIP.timeoutSeconds"}},
		{"without sessions they do not last", service(clusterIP, affinity("None", ptr.To[int32](1))), []string{"Forbidden: " + path + "sessionAffinityConfig"}},
		{"sessions are off unless they are on", service(clusterIP, affinity("", ptr.To[int32](1))), []string{"Forbidden: " + path + "sessionAffinityConfig"}},

		{"externalTrafficPolicy goes with NodePort", service(nodePort, externalPolicy("Local")), nil},
		{"externalTrafficPolicy goes with LoadBalancer", service(loadBalancer, externalPolicy("Cluster")), nil},
		{"externalTrafficPolicy goes with a node port", all(service("", externalPolicy("Local")), port(func(p *corev1.ServicePort) { p.NodePort = 30010 })), nil},
		{"externalTrafficPolicy does not go with ClusterIP", service(clusterIP, externalPolicy("Local")), []string{"Forbidden: " + path + "externalTrafficPolicy"}},
		{"externalTrafficPolicy does not go with Headless", service(headless, externalPolicy("Cluster")), []string{"Forbidden: " + path + "externalTrafficPolicy"}},
		{"externalTrafficPolicy Global is refused", service(nodePort, externalPolicy("Global")), []string{"Unsupported value: " + path + "externalTrafficPolicy"}},
		{"what goes with a type does not matter without a Service", all(ports(), service("", externalPolicy("Local"))), nil},

		{"internalTrafficPolicy Local is accepted", service(headless, func(s *model.ModelBoxService) {
			s.InternalTrafficPolicy = ptr.To(corev1.ServiceInternalTrafficPolicyLocal)
		}), nil},
		{"internalTrafficPolicy Global is refused", service(clusterIP, func(s *model.ModelBoxService) {
			s.InternalTrafficPolicy = ptr.To[corev1.ServiceInternalTrafficPolicy]("Global")
		}), []string{"Unsupported value: " + path + "internalTrafficPolicy"}},

		{"a class goes with LoadBalancer", service(loadBalancer, balancerClass("example.com/internal")), nil},
		{"a class needs no domain", service(loadBalancer, balancerClass("internal")), nil},
		{"a class does not go with NodePort", service(nodePort, balancerClass("internal")), []string{"Forbidden: " + path + "loadBalancerClass"}},
		{"a class is a qualified name", service(loadBalancer, balancerClass("a b")), []string{"Invalid value: " + path + "loadBalancerClass"}},
		{"a class is not empty", service(loadBalancer, balancerClass("")), []string{"Required value: " + path + "loadBalancerClass"}},

		{"source ranges go with LoadBalancer", service(loadBalancer, sourceRanges("203.0.113.0/24", " 2001:db8::/32 ")), nil},
		{"source ranges do not go with ClusterIP", service(clusterIP, sourceRanges("203.0.113.0/24")), []string{"Forbidden: " + path + "loadBalancerSourceRanges"}},
		{"a source range is a network", service(loadBalancer, sourceRanges("203.0.113.0/24", "203.0.113.1")), []string{"Invalid value: " + path + "loadBalancerSourceRanges[1]"}},
		{"a source range has no leading zeros", service(loadBalancer, sourceRanges("203.000.113.0/24")), []string{"Invalid value: " + path + "loadBalancerSourceRanges[0]"}},

		{"node ports are allocated for LoadBalancer", service(loadBalancer, func(s *model.ModelBoxService) { s.AllocateLoadBalancerNodePorts = ptr.To(false) }), nil},
		{"node ports are not allocated for ClusterIP", service(clusterIP, func(s *model.ModelBoxService) { s.AllocateLoadBalancerNodePorts = ptr.To(true) }),
			[]string{"Forbidden: " + path + "allocateLoadBalancerNodePorts"}},

		{"a health check goes with LoadBalancer and Local", service(loadBalancer, healthCheck("Local", 30100)), nil},
		{"a health check does not go with Cluster", service(loadBalancer, healthCheck("Cluster", 30100)), []string{"Forbidden: " + path + "healthCheckNodePort"}},
		{"a health check does not go with NodePort", service(nodePort, healthCheck("Local", 30100)), []string{"Forbidden: " + path + "healthCheckNodePort"}},
		{"a health check has a port", service(loadBalancer, healthCheck("Local", 65536)), []string{"Invalid value: " + path + "healthCheckNodePort"}},

		{"one family is accepted", service(clusterIP, families("", "IPv6")), nil},
		{"one family is SingleStack", service(clusterIP, families("SingleStack", "IPv4")), nil},
		{"two families are PreferDualStack", service(clusterIP, families("PreferDualStack", "IPv6", "IPv4")), nil},
		{"two families are RequireDualStack", service(headless, families("RequireDualStack", "IPv4", "IPv6")), nil},
		{"a policy leaves the families to the cluster", service(clusterIP, families("PreferDualStack")), nil},
		{"two families need a policy", service(clusterIP, families("", "IPv4", "IPv6")), []string{"Invalid value: " + path + "ipFamilyPolicy"}},
		{"two families are not SingleStack", service(clusterIP, families("SingleStack", "IPv4", "IPv6")), []string{"Invalid value: " + path + "ipFamilyPolicy"}},
		{"one family is not RequireDualStack", service(clusterIP, families("RequireDualStack", "IPv4")), []string{"Invalid value: " + path + "ipFamilies"}},
		{"a family is there once", service(clusterIP, families("PreferDualStack", "IPv4", "IPv4")), []string{"Duplicate value: " + path + "ipFamilies[1]"}},
		{"IPv5 is no family", service(clusterIP, families("", "IPv5")), []string{"Unsupported value: " + path + "ipFamilies[0]"}},
		{"a policy is one of three", service(clusterIP, families("TripleStack", "IPv4")), []string{"Unsupported value: " + path + "ipFamilyPolicy"}},

		{"traffic stays near", service(clusterIP, func(s *model.ModelBoxService) { s.TrafficDistribution = ptr.To("PreferSameNode") }), nil},
		{"traffic goes nowhere else", service(clusterIP, func(s *model.ModelBoxService) { s.TrafficDistribution = ptr.To("Far") }),
			[]string{"Unsupported value: " + path + "trafficDistribution"}},
	})
}

func TestServiceUpdate(t *testing.T) {
	const (
		clusterIP    = model.ServiceTypeClusterIP
		loadBalancer = model.ServiceTypeLoadBalancer
		path         = "spec.service."
	)
	none := func(*model.ModelBoxService) {}
	for _, row := range []struct {
		name     string
		old, new func(*model.ModelBox)
		want     []string
	}{
		{"a class stays", service(loadBalancer, balancerClass("a")), service(loadBalancer, balancerClass("a")), nil},
		{"a class does not change", service(loadBalancer, balancerClass("a")), service(loadBalancer, balancerClass("b")), []string{"Invalid value: " + path + "loadBalancerClass"}},
		{"a class is not added", service(loadBalancer, none), service(loadBalancer, balancerClass("b")), []string{"Invalid value: " + path + "loadBalancerClass"}},
		{"a class is not taken out", service(loadBalancer, balancerClass("a")), func(box *model.ModelBox) { box.Spec.ServiceType = loadBalancer }, []string{"Invalid value: " + path + "loadBalancerClass"}},
		{"a class comes with the type", service(clusterIP, none), service(loadBalancer, balancerClass("b")), nil},
		{"a class goes with the type", service(loadBalancer, balancerClass("a")), service(clusterIP, none), nil},
		{"a class changes while there is no Service", all(ports(), service(loadBalancer, balancerClass("a"))), service(loadBalancer, balancerClass("b")), nil},

		{"a health check does not move", service(loadBalancer, healthCheck("Local", 30100)), service(loadBalancer, healthCheck("Local", 30101)), []string{"Invalid value: " + path + "healthCheckNodePort"}},
		{"a health check is not put where the cluster did not", service(loadBalancer, externalPolicy("Local")), service(loadBalancer, healthCheck("Local", 30101)), []string{"Invalid value: " + path + "healthCheckNodePort"}},
		{"a health check comes with Local", service(loadBalancer, none), service(loadBalancer, healthCheck("Local", 30100)), nil},
		{"a health check is left to the cluster", service(loadBalancer, healthCheck("Local", 30100)), service(loadBalancer, externalPolicy("Local")), nil},

		{"the first family does not change", service(clusterIP, families("", "IPv4")), service(clusterIP, families("", "IPv6")), []string{"Invalid value: " + path + "ipFamilies[0]"}},
		{"a second family is added", service(clusterIP, families("", "IPv4")), service(clusterIP, families("PreferDualStack", "IPv4", "IPv6")), nil},
		{"a second family is taken out", service(clusterIP, families("PreferDualStack", "IPv4", "IPv6")), service(clusterIP, families("SingleStack", "IPv4")), nil},
		{"the families of a headless Service change", service(model.ServiceTypeHeadless, families("", "IPv4")), service(model.ServiceTypeHeadless, families("", "IPv6")), nil},
		{"the families change with the addresses", service(model.ServiceTypeHeadless, families("", "IPv4")), service(clusterIP, families("", "IPv6")), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old, box := validBox(), validBox()
			row.old(old)
			row.new(box)
			box.ResourceVersion, old.ResourceVersion = "1", "1"
			errs := validateUpdate(t.Context(), box, old)
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}
