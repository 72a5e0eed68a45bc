// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestIngress(t *testing.T) {
	udp := servicePort("dns", 53, 53)
	udp.Protocol = corev1.ProtocolUDP
	className := func(name string) func(*model.ModelBoxIngress) {
		return func(ingress *model.ModelBoxIngress) { ingress.ClassName = &name }
	}
	annotated := func(key, value string) func(*model.ModelBoxIngress) {
		return func(ingress *model.ModelBoxIngress) { ingress.Annotations = map[string]string{key: value} }
	}
	secret := func(name string) func(*model.ModelBoxIngress) {
		return func(ingress *model.ModelBoxIngress) { ingress.TLS = &model.ModelBoxIngressTLS{SecretName: name} }
	}
	const class = "kubernetes.io/ingress.class"

	check(t, []row{
		{"an Ingress with nothing but its defaults is accepted", ingress(), nil},
		{"hosts are accepted", ingress(ingressHosts("shop.example.com", "*.example.com")), nil},
		{"an IP address is refused", ingress(ingressHosts("shop.example.com", "192.0.2.1")), []string{"Invalid value: spec.ingress.hosts[1]"}},
		{"a host in upper case is refused", ingress(ingressHosts("Shop.example.com")), []string{"Invalid value: spec.ingress.hosts[0]"}},
		{"an empty host is refused", ingress(ingressHosts("")), []string{"Required value: spec.ingress.hosts[0]"}},
		{"a wildcard that is not first is refused", ingress(ingressHosts("shop.*.com")), []string{"Invalid value: spec.ingress.hosts[0]"}},
		{"a host that comes twice is refused", ingress(ingressHosts("a.example.com", "a.example.com")), []string{"Duplicate value: spec.ingress.hosts[1]"}},

		{"an exact path is accepted", ingress(ingressPath(networkingv1.PathTypeExact, "/api")), nil},
		{"no path of the class is accepted", ingress(ingressPath(networkingv1.PathTypeImplementationSpecific, "")), nil},
		{"a relative path is refused", ingress(ingressPath(networkingv1.PathTypePrefix, "api")), []string{"Invalid value: spec.ingress.path"}},
		{"a path out of its folder is refused", ingress(ingressPath(networkingv1.PathTypePrefix, "/a/../b")), []string{"Invalid value: spec.ingress.path"}},
		{"another path type is refused", ingress(ingressPath("Regex", "/")), []string{"Unsupported value: spec.ingress.pathType"}},

		{"further paths are accepted", all(ports(servicePort("http", 80, 80), servicePort("metrics", 9090, 9090)), ingress(
			furtherPath(networkingv1.PathTypePrefix, "/metrics", ptr.To(intstr.FromString("metrics"))), furtherPath(networkingv1.PathTypeExact, "/", nil))), nil},
		{"a further path without a path is refused", ingress(furtherPath(networkingv1.PathTypePrefix, "", nil)), []string{"Required value: spec.ingress.paths[0].path"}},
		{"a further path that is relative is refused", ingress(furtherPath(networkingv1.PathTypePrefix, "a", nil)), []string{"Invalid value: spec.ingress.paths[0].path"}},
		{"another type of a further path is refused", ingress(furtherPath("Regex", "/a", nil)), []string{"Unsupported value: spec.ingress.paths[0].pathType"}},
		{"a port of a further path that the box has not is refused", ingress(furtherPath(networkingv1.PathTypePrefix, "/a", ptr.To(intstr.FromInt32(81)))),
			[]string{"Not found: spec.ingress.paths[0].port"}},
		{"a path that comes twice is refused", ingress(furtherPath(networkingv1.PathTypePrefix, "/", nil)), []string{"Duplicate value: spec.ingress.paths[0].path"}},
		{"a further path that comes twice is refused", ingress(furtherPath(networkingv1.PathTypePrefix, "/a", nil), furtherPath(networkingv1.PathTypePrefix, "/a", nil)),
			[]string{"Duplicate value: spec.ingress.paths[1].path"}},

		{"the number of a port is accepted", ingress(ingressPort(intstr.FromInt32(80))), nil},
		{"the name of a port is accepted", ingress(ingressPort(intstr.FromString("http"))), nil},
		{"the number of no port is refused", ingress(ingressPort(intstr.FromInt32(8080))), []string{"Not found: spec.ingress.port"}},
		{"the name of no port is refused", ingress(ingressPort(intstr.FromString("admin"))), []string{"Not found: spec.ingress.port"}},
		{"the name of a port with UDP is refused", all(ports(servicePort("http", 80, 80), udp), ingress(ingressPort(intstr.FromString("dns")))),
			[]string{"Not found: spec.ingress.port"}},
		{"a box with nothing but UDP is refused", all(ports(udp), ingress()), []string{"Required value: spec.ports"}},
		{"a box without ports is refused once", all(ports(), ingress(ingressPort(intstr.FromInt32(80)), furtherPath(networkingv1.PathTypePrefix, "/a", nil))),
			[]string{"Required value: spec.ports"}},

		{"a class is accepted", ingress(className("nginx")), nil},
		{"an empty class is refused", ingress(className("")), []string{"Required value: spec.ingress.className"}},
		{"a class in upper case is refused", ingress(className("Nginx")), []string{"Invalid value: spec.ingress.className"}},

		{"a Secret is accepted", ingress(secret("shop-tls")), nil},
		{"a certificate that the class chooses is accepted", ingress(secret("")), nil},
		{"a Secret whose name is none is refused", ingress(secret("shop_tls")), []string{"Invalid value: spec.ingress.tls.secretName"}},

		{"an annotation is accepted", ingress(annotated("example.com/rate-limit", "10")), nil},
		{"an annotation whose key is none is refused", ingress(annotated("not a key", "")), []string{"Invalid value: spec.ingress.annotations"}},
		{"an annotation of the controller is refused", ingress(annotated("model.github.com/render-hash", "")),
			[]string{"Forbidden: spec.ingress.annotations[model.github.com/render-hash]"}},
		{"annotations that are too large are refused", ingress(annotated("b", strings.Repeat("x", 253<<10))), []string{"Too long: spec.ingress.annotations"}},
		{"the class in two ways is accepted", ingress(className("nginx"), annotated(class, "nginx")), nil},
		{"the class in an annotation alone is accepted", ingress(annotated(class, "nginx")), nil},
		{"two classes are refused", ingress(className("nginx"), annotated(class, "haproxy")), []string{"Invalid value: spec.ingress.annotations[" + class + "]"}},
	})
}

func TestRoute(t *testing.T) {
	long := strings.Repeat("a", 1024)
	check(t, []row{
		{"a route to a Gateway is accepted", route(parents(gateway("public"))), nil},
		{"a route without parents is refused", route(), []string{"Required value: spec.route.parentRefs"}},
		{"hosts are accepted", route(parents(gateway("public")), routeHosts("shop.example.com", "*.example.com")), nil},
		{"an IP address is refused", route(parents(gateway("public")), routeHosts("2001:db8::1")), []string{"Invalid value: spec.route.hosts[0]"}},
		{"a host that is too long is refused", route(parents(gateway("public")), routeHosts("*."+strings.Repeat("a.", 126))), []string{"Too long: spec.route.hosts[0]"}},
		{"a host that comes twice is refused", route(parents(gateway("public")), routeHosts("a", "a")), []string{"Duplicate value: spec.route.hosts[1]"}},

		{"an exact path is accepted", route(parents(gateway("public")), routePath(networkingv1.PathTypeExact, "/a%20b")), nil},
		{"a path of the class is refused", route(parents(gateway("public")), routePath(networkingv1.PathTypeImplementationSpecific, "/")),
			[]string{"Unsupported value: spec.route.pathType"}},
		{"a relative path is refused", route(parents(gateway("public")), routePath(networkingv1.PathTypePrefix, "a")), []string{"Invalid value: spec.route.path"}},
		{"a path with a fragment is refused", route(parents(gateway("public")), routePath(networkingv1.PathTypePrefix, "/a#b")), []string{"Invalid value: spec.route.path"}},
		{"a path with a pattern is refused", route(parents(gateway("public")), routePath(networkingv1.PathTypePrefix, "/[a]")), []string{"Invalid value: spec.route.path"}},
		{"a path with half a character is refused", route(parents(gateway("public")), routePath(networkingv1.PathTypePrefix, "/a%2")), []string{"Invalid value: spec.route.path"}},
		{"a path that is too long is refused", route(parents(gateway("public")), routePath(networkingv1.PathTypePrefix, "/"+long)), []string{"Too long: spec.route.path"}},

		{"the number of no port is refused", route(parents(gateway("public")), func(route *model.ModelBoxRoute) { route.Port = ptr.To(intstr.FromInt32(81)) }),
			[]string{"Not found: spec.route.port"}},
		{"a box without ports is refused", all(ports(), route(parents(gateway("public")))), []string{"Required value: spec.ports"}},

		{"everything about a parent is accepted", route(parents(model.RouteParentReference{Group: "mesh.example.com", Kind: "Mesh", Namespace: "infra",
			Name: "main", SectionName: "https", Port: ptr.To[int32](443)})), nil},
		{"a parent without a name is refused", route(parents(gateway(""))), []string{"Required value: spec.route.parentRefs[0].name"}},
		{"a name of a parent that is none is refused", route(parents(gateway("my_gateway"))), []string{"Invalid value: spec.route.parentRefs[0].name"}},
		{"a namespace that is none is refused", route(parents(model.RouteParentReference{Name: "public", Namespace: "my.ns"})),
			[]string{"Invalid value: spec.route.parentRefs[0].namespace"}},
		{"a group that is none is refused", route(parents(model.RouteParentReference{Name: "public", Group: "a/b"})), []string{"Invalid value: spec.route.parentRefs[0].group"}},
		{"a kind that is none is refused", route(parents(model.RouteParentReference{Name: "public", Kind: "my_kind"})), []string{"Invalid value: spec.route.parentRefs[0].kind"}},
		{"a kind that is too long is refused", route(parents(model.RouteParentReference{Name: "public", Kind: strings.Repeat("k", 64)})),
			[]string{"Too long: spec.route.parentRefs[0].kind"}},
		{"a section that is none is refused", route(parents(listener("public", "My Section"))), []string{"Invalid value: spec.route.parentRefs[0].sectionName"}},
		{"a port out of range is refused", route(parents(model.RouteParentReference{Name: "public", Port: ptr.To[int32](65536)})),
			[]string{"Invalid value: spec.route.parentRefs[0].port"}},
		{"several parents are accepted", route(parents(gateway("public"), gateway("internal"))), nil},
		{"a parent in two namespaces is accepted", route(parents(gateway("public"), model.RouteParentReference{Name: "public", Namespace: "infra"})), nil},
		{"several sections of a parent are accepted", route(parents(listener("public", "http"), listener("public", "https"))), nil},
		{"a parent that comes twice is refused", route(parents(gateway("public"), gateway("public"))), []string{"Invalid value: spec.route.parentRefs[1].sectionName"}},
		{"a section that comes twice is refused", route(parents(listener("public", "a"), listener("public", "b"), listener("public", "b"))),
			[]string{"Invalid value: spec.route.parentRefs[2].sectionName"}},
		{"a section and all of the same parent are refused", route(parents(gateway("public"), listener("public", "http"))),
			[]string{"Invalid value: spec.route.parentRefs[1].sectionName"}},
	})
}

func TestLimitsOfIngressAndRoute(t *testing.T) {
	hosts := func(count int) []string {
		hosts := make([]string, count)
		for i := range hosts {
			hosts[i] = fmt.Sprintf("h%d", i)
		}
		return hosts
	}
	for _, row := range []struct {
		name   string
		mutate func(*model.ModelBox)
		want   string
	}{
		{"more hosts than an Ingress may have", ingress(ingressHosts(hosts(65)...)), "[Too many: spec.ingress.hosts]"},
		{"more hosts than a route may have", route(routeHosts(hosts(17)...)), "[Too many: spec.route.hosts]"},
		{"more parents than a route may have", route(parents(make([]model.RouteParentReference, 33)...)), "[Too many: spec.route.parentRefs]"},
		{"more paths than an Ingress may have", ingress(func(ingress *model.ModelBoxIngress) { ingress.Paths = make([]model.ModelBoxIngressPath, 65) }),
			"[Too many: spec.ingress.paths]"},
		{"more rules than a route may have", route(rules(make([]model.RouteRule, 17)...)), "[Too many: spec.route.rules]"},
		{"more matches than a rule may have", route(rules(model.RouteRule{Matches: make([]model.RouteMatch, 65)})), "[Too many: spec.route.rules[0].matches]"},
		{"more headers than a match may have", route(rules(model.RouteRule{Matches: []model.RouteMatch{{Headers: make([]model.RouteValueMatch, 17)}}})),
			"[Too many: spec.route.rules[0].matches[0].headers]"},
		{"more headers than a rule may add", route(rules(model.RouteRule{RequestHeaderModifier: &model.RouteHeaderModifier{Add: make([]model.RouteHeader, 17)}})),
			"[Too many: spec.route.rules[0].requestHeaderModifier.add]"},
		{"as many as there may be", all(ingress(ingressHosts(hosts(64)...)), route(routeHosts(hosts(16)...), parents(make([]model.RouteParentReference, 32)...))), "[]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := validBox()
			row.mutate(box)
			if got := fmt.Sprint(typesAndFields(ValidateLimits(box))); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// ingress gives the box an Ingress that has its defaults, but for the changes.
func ingress(changes ...func(*model.ModelBoxIngress)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Ingress = &model.ModelBoxIngress{Path: "/", PathType: networkingv1.PathTypePrefix}
		all(changes...)(box.Spec.Ingress)
	}
}

func ingressHosts(hosts ...string) func(*model.ModelBoxIngress) {
	return func(ingress *model.ModelBoxIngress) { ingress.Hosts = hosts }
}

func ingressPath(pathType networkingv1.PathType, path string) func(*model.ModelBoxIngress) {
	return func(ingress *model.ModelBoxIngress) { ingress.PathType, ingress.Path = pathType, path }
}

func furtherPath(pathType networkingv1.PathType, path string, port *intstr.IntOrString) func(*model.ModelBoxIngress) {
	return func(ingress *model.ModelBoxIngress) {
		ingress.Paths = append(ingress.Paths, model.ModelBoxIngressPath{Path: path, PathType: pathType, Port: port})
	}
}

func ingressPort(port intstr.IntOrString) func(*model.ModelBoxIngress) {
	return func(ingress *model.ModelBoxIngress) { ingress.Port = &port }
}

// route gives the box an HTTPRoute that has its defaults and no parents, but for the changes.
func route(changes ...func(*model.ModelBoxRoute)) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Route = &model.ModelBoxRoute{Path: "/", PathType: networkingv1.PathTypePrefix}
		all(changes...)(box.Spec.Route)
	}
}

func routeHosts(hosts ...string) func(*model.ModelBoxRoute) {
	return func(route *model.ModelBoxRoute) { route.Hosts = hosts }
}

func routePath(pathType networkingv1.PathType, path string) func(*model.ModelBoxRoute) {
	return func(route *model.ModelBoxRoute) { route.PathType, route.Path = pathType, path }
}

func parents(parents ...model.RouteParentReference) func(*model.ModelBoxRoute) {
	return func(route *model.ModelBoxRoute) { route.ParentRefs = parents }
}

func gateway(name string) model.RouteParentReference { return model.RouteParentReference{Name: name} }

func listener(gateway, section string) model.RouteParentReference {
	return model.RouteParentReference{Name: gateway, SectionName: section}
}
