// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

func TestPorts(t *testing.T) {
	check(t, []row{
		{"port 1 is accepted", port(func(p *corev1.ServicePort) { p.Port = 1 }), nil},
		{"port 65535 is accepted", port(func(p *corev1.ServicePort) { p.Port = 65535 }), nil},
		{"port 0 is refused", port(func(p *corev1.ServicePort) { p.Port = 0 }), []string{"Invalid value: spec.ports[0].port"}},
		{"port 65536 is refused", port(func(p *corev1.ServicePort) { p.Port = 65536 }), []string{"Invalid value: spec.ports[0].port"}},
		{"protocol SCTP is accepted", port(func(p *corev1.ServicePort) { p.Protocol = corev1.ProtocolSCTP }), nil},
		{"protocol HTTP is refused", port(func(p *corev1.ServicePort) { p.Protocol = "HTTP" }), []string{"Unsupported value: spec.ports[0].protocol"}},
		{"80/TCP and 80/UDP are two ports", ports(servicePort("tcp", 80, 80), udp(servicePort("udp", 80, 80))), nil},
		{"80/TCP twice is one too many", ports(servicePort("one", 80, 80), servicePort("two", 80, 81)), []string{"Duplicate value: spec.ports[1]"}},

		{"the only port needs no name", port(func(p *corev1.ServicePort) { p.Name = "" }), nil},
		{"several ports need names", ports(servicePort("", 80, 80), servicePort("two", 81, 81)), []string{"Required value: spec.ports[0].name"}},
		{"a port name is unique", ports(servicePort("web", 80, 80), servicePort("web", 81, 81)), []string{"Duplicate value: spec.ports[1].name"}},
		{"a port name is a DNS label", port(func(p *corev1.ServicePort) { p.Name = "Web" }), []string{"Invalid value: spec.ports[0].name"}},
		{"a port name may be longer than a container port's", port(func(p *corev1.ServicePort) { p.Name = "name-of-more-than-15" }), nil},

		{"appProtocol http is accepted", port(func(p *corev1.ServicePort) { p.AppProtocol = ptr.To("http") }), nil},
		{"appProtocol kubernetes.io/h2c is accepted", port(func(p *corev1.ServicePort) { p.AppProtocol = ptr.To("kubernetes.io/h2c") }), nil},
		{"appProtocol is a qualified name", port(func(p *corev1.ServicePort) { p.AppProtocol = ptr.To("a b") }), []string{"Invalid value: spec.ports[0].appProtocol"}},
		{"an empty appProtocol is refused", port(func(p *corev1.ServicePort) { p.AppProtocol = ptr.To("") }), []string{"Required value: spec.ports[0].appProtocol"}},
	})
}

func TestTargetPorts(t *testing.T) {
	toName := func(name string) func(*model.ModelBox) {
		return port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromString(name) })
	}
	second := func(p corev1.ServicePort) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.Ports = append(box.Spec.Ports, p) }
	}
	toHTTP := servicePort("alias", 81, 0)
	toHTTP.TargetPort = intstr.FromString("http")
	named := func(name string) func(*corev1.Container) {
		return func(c *corev1.Container) { c.Ports[0].Name = name }
	}
	overlaid := func(container string, number int32, name string) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) {
			spec.Containers = []corev1.Container{{Name: container, Ports: []corev1.ContainerPort{{Name: name, ContainerPort: number}}}}
		}
	}

	// What is not in the box yet has to have an image.
	sidecarIn := func(overlay func(*corev1.PodSpec)) func(*model.ModelBox) {
		return overlayPod(func(spec *corev1.PodSpec) {
			overlay(spec)
			spec.Containers[0].Image = "side:1"
		})
	}

	check(t, []row{
		{"target port 65535 is accepted", port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromInt32(65535) }), nil},
		{"target port 0 is refused", port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromInt32(0) }), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"target port 65536 is refused", port(func(p *corev1.ServicePort) { p.TargetPort = intstr.FromInt32(65536) }), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"two ports may lead to one target port", second(servicePort("other", 81, 8080)), nil},
		{"a target port names a port of a container", all(toName("metrics"), container(func(*corev1.Container) {})), nil},
		{"a target port names a port of a sidecar", all(toName("metrics"), sidecar(func(*corev1.Container) {})), nil},
		{"a target port names a port of the main container", second(toHTTP), nil},
		{"a target port does not name a port of an init container that ends",
			all(toName("metrics"), initContainer(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090}} })),
			[]string{"Invalid value: spec.ports[0].targetPort"}},
		{"a target port does not name what no container has", toName("metrics"), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"a target port does not name itself", toName("http"), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"a target port has the protocol of the port it names", second(udp(toHTTP)), []string{"Invalid value: spec.ports[1].targetPort"}},
		{"a target port that names the main container's port does not name a container's too", all(second(toHTTP), container(named("http"))),
			[]string{"Invalid value: spec.ports[1].targetPort"}},
		{"a target port that names the main container's port does not name a sidecar's too", all(second(toHTTP), sidecar(named("http"))),
			[]string{"Invalid value: spec.ports[1].targetPort"}},
		{"a target port that names the main container's port does not name one of the overlay too", all(second(toHTTP), sidecarIn(overlaid("side", 9090, "http"))),
			[]string{"Invalid value: spec.ports[1].targetPort"}},
		{"a port name that no target port uses may be given twice", container(named("http")), nil},
		{"a target port names one port of each protocol", all(second(toHTTP), container(func(c *corev1.Container) {
			c.Ports[0].Name, c.Ports[0].Protocol = "http", "UDP"
		})), nil},
		{"a target port names what the overlay leaves to one container", all(second(toHTTP), container(named("http")), overlayPod(overlaid("web", 8080, "page"))), nil},
		{"a target port does not name what the overlay gives another name", all(second(toHTTP), overlayPod(overlaid("web", 8080, "page"))),
			[]string{"Invalid value: spec.ports[1].targetPort"}},
		{"a target port with capitals is no port name", toName("Metrics"), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"a target port of 16 characters is no port name", toName("abcdefghijklmnop"), []string{"Invalid value: spec.ports[0].targetPort"}},
		{"a quoted number is no port name", toName("8080"), []string{"Invalid value: spec.ports[0].targetPort"}},
	})
}

func TestNodePorts(t *testing.T) {
	serviceType := func(serviceType model.ServiceType) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.ServiceType = serviceType }
	}
	withNodePort := func(p corev1.ServicePort, nodePort int32) corev1.ServicePort {
		p.NodePort = nodePort
		return p
	}
	check(t, []row{
		{"a node port makes a box without a type NodePort", nodePort(30010), nil},
		{"a node port goes with NodePort", all(serviceType(model.ServiceTypeNodePort), nodePort(30010)), nil},
		{"a node port goes with LoadBalancer", all(serviceType(model.ServiceTypeLoadBalancer), nodePort(30010)), nil},
		{"NodePort needs no node port", serviceType(model.ServiceTypeNodePort), nil},
		{"a node port does not go with ClusterIP", all(serviceType(model.ServiceTypeClusterIP), nodePort(30010)), []string{"Forbidden: spec.ports[0].nodePort"}},
		{"a node port does not go with Headless", all(serviceType(model.ServiceTypeHeadless), nodePort(30010)), []string{"Forbidden: spec.ports[0].nodePort"}},
		{"a wrong type is the only error of a node port", all(serviceType("External"), nodePort(30010)), []string{"Unsupported value: spec.serviceType"}},
		{"a node port outside the usual range is the cluster's business", nodePort(8080), nil}, // see TestNodePortRange
		{"a node port is not negative", nodePort(-1), []string{"Invalid value: spec.ports[0].nodePort"}},
		{"node port 65536 is refused", nodePort(65536), []string{"Invalid value: spec.ports[0].nodePort"}},
		{"a node port is given to one port", ports(withNodePort(servicePort("one", 80, 80), 30010), withNodePort(servicePort("two", 81, 81), 30010)),
			[]string{"Duplicate value: spec.ports[1].nodePort"}},
		{"a node port is given once for each protocol", ports(withNodePort(servicePort("one", 80, 80), 30010), withNodePort(udp(servicePort("two", 81, 81)), 30010)), nil},
		{"ports without a node port do not share one", ports(withNodePort(servicePort("one", 80, 80), 30010), servicePort("two", 81, 81), servicePort("three", 82, 82)), nil},
	})
}

func TestNodePortRange(t *testing.T) {
	usual, own := utilnet.PortRange{Base: 30000, Size: 2768}, utilnet.PortRange{Base: 8080, Size: 1}
	for _, row := range []struct {
		name      string
		nodePort  int32
		portRange utilnet.PortRange
		want      string
	}{
		{"no node port", 0, usual, ""},
		{"the first", 30000, usual, ""},
		{"the last", 32767, usual, ""},
		{"one before the first", 29999, usual, "spec.ports[1].nodePort: Invalid value: 29999: " + mustBeNodePort(usual)},
		{"one after the last", 32768, usual, "spec.ports[1].nodePort: Invalid value: 32768: " + mustBeNodePort(usual)},
		{"one of the cluster's own range", 8080, own, ""},
		{"one that is not of the cluster's own range", 30000, own, "spec.ports[1].nodePort: Invalid value: 30000: " + mustBeNodePort(own)},
		{"one where the range is not known", 8080, utilnet.PortRange{}, ""},
		{"what is no port, which is refused anyway", 65536, usual, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := validBox()
			box.Spec.Ports = append(box.Spec.Ports, corev1.ServicePort{Port: 81, NodePort: row.nodePort})
			errs := ValidateNodePortRange(box, row.portRange, field.NewPath("spec"))
			if row.want == "" && len(errs) == 0 {
				return
			}
			if len(errs) != 1 || errs[0].Error() != row.want {
				t.Errorf("got %v, want %q", errs.ToAggregate(), row.want)
			}
		})
	}
}

// The port of a health check is one of the node ports.
func TestNodePortRangeOfHealthCheck(t *testing.T) {
	box := validBox()
	service(model.ServiceTypeLoadBalancer, healthCheck(corev1.ServiceExternalTrafficPolicyLocal, 8080))(box)
	errs := ValidateNodePortRange(box, utilnet.PortRange{Base: 30000, Size: 2768}, field.NewPath("spec"))
	if got, want := typesAndFields(errs), []string{"Invalid value: spec.service.healthCheckNodePort"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func udp(p corev1.ServicePort) corev1.ServicePort {
	p.Protocol = corev1.ProtocolUDP
	return p
}

func nodePort(nodePort int32) func(*model.ModelBox) {
	return port(func(p *corev1.ServicePort) { p.NodePort = nodePort })
}
