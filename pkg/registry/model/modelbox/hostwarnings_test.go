// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// leadsIn gives the box an Ingress of the hosts.
func leadsIn(path string, hosts ...string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Ingress = &model.ModelBoxIngress{Hosts: hosts, Path: path} }
}

// routes gives the box an HTTPRoute of the hosts.
func routes(path string, hosts ...string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Route = &model.ModelBoxRoute{Hosts: hosts, Path: path} }
}

// routesGRPC gives the box a GRPCRoute of the host, with a rule of these matches.
func routesGRPC(host string, matches ...model.GRPCRouteMatch) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.GRPCRoute = &model.ModelBoxGRPCRoute{Hosts: []string{host}, Rules: []model.GRPCRouteRule{{Matches: matches}}}
	}
}

// method matches the method, or with an empty one all methods, of a gRPC service.
func method(service, method string) model.GRPCRouteMatch {
	return model.GRPCRouteMatch{Method: &model.GRPCMethodMatch{Service: service, Method: method, Type: model.RouteValueMatchExact}}
}

func furtherPath(path string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Ingress.Paths = []model.ModelBoxIngressPath{{Path: path}} }
}

// matches gives the route one rule with these matches.
func matches(matches ...model.RouteMatch) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Route.Rules = []model.RouteRule{{Matches: matches}} }
}

func ofClass(name string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Ingress.ClassName = ptr.To(name) }
}

func TestHostWarnings(t *testing.T) {
	type change = func(*model.ModelBox)
	in := func(namespace string) change {
		return func(box *model.ModelBox) { box.Namespace, box.Name = namespace, "mail" }
	}
	const host = "web.example.com"
	for _, row := range []struct {
		name            string
		other, old, box []change
		want            []string
	}{
		{"the host of a box that jane sees", []change{in("post"), leadsIn("/", host)}, nil, []change{leadsIn("/", host)},
			[]string{"spec.ingress.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /", "ModelBox mail in namespace post")}},
		{"the host of a box that jane does not see", []change{in("secret"), leadsIn("/", host)}, nil, []change{leadsIn("/", host)},
			[]string{"spec.ingress.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /", "another ModelBox")}},
		{"the second host", []change{in("post"), leadsIn("/", host)}, nil, []change{leadsIn("/", "a.example.com", host)},
			[]string{"spec.ingress.hosts[1]: " + warn.AlreadyRequested("host web.example.com with path /", "ModelBox mail in namespace post")}},
		{"any host", []change{in("post"), leadsIn("/")}, nil, []change{leadsIn("/")},
			[]string{"spec.ingress: " + warn.AlreadyRequested("host * with path /", "ModelBox mail in namespace post")}},
		{"the host of a route", []change{in("post"), routes("/", host)}, nil, []change{routes("/", host)},
			[]string{"spec.route.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /", "ModelBox mail in namespace post")}},
		{"a further path of an Ingress", []change{in("post"), leadsIn("/", host), furtherPath("/api")}, nil, []change{leadsIn("/api", host)},
			[]string{"spec.ingress.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /api", "ModelBox mail in namespace post")}},
		{"a rule of a route", []change{in("post"), routes("", host), matches(model.RouteMatch{Path: "/api"})}, nil, []change{routes("/api", host)},
			[]string{"spec.route.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /api", "ModelBox mail in namespace post")}},
		{"a rule for all requests", []change{in("post"), routes("/", host)}, nil, []change{routes("", host), matches()},
			[]string{"spec.route.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /", "ModelBox mail in namespace post")}},
		{"a rule for some requests of the path", []change{in("post"), routes("", host), matches(model.RouteMatch{Path: "/", Method: "GET"})}, nil, []change{routes("/", host)}, nil},
		{"all services of a GRPCRoute", []change{in("post"), routesGRPC(host)}, nil, []change{routesGRPC(host, model.GRPCRouteMatch{})},
			[]string{"spec.grpcRoute.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /", "ModelBox mail in namespace post")}},
		{"a method of a GRPCRoute", []change{in("post"), routesGRPC(host, method("shop.Cart", "Add"))}, nil, []change{routesGRPC(host, method("shop.Cart", "Add"))},
			[]string{"spec.grpcRoute.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /shop.Cart/Add", "ModelBox mail in namespace post")}},
		{"another service of a GRPCRoute", []change{in("post"), routesGRPC(host, method("shop.Cart", ""))}, nil, []change{routesGRPC(host, method("shop.Order", ""))}, nil},
		{"another path", []change{in("post"), leadsIn("/", host)}, nil, []change{leadsIn("/api", host)}, nil},
		{"another class", []change{in("post"), leadsIn("/", host), ofClass("nginx")}, nil, []change{leadsIn("/", host)}, nil},
		{"an Ingress beside a route", []change{in("post"), routes("/", host)}, nil, []change{leadsIn("/", host)}, nil},
		{"routes of any host, which their Gateways tell apart", []change{in("post"), routes("/")}, nil, []change{routes("/")}, nil},
		{"the box itself", []change{leadsIn("/", host)}, nil, []change{leadsIn("/", host)}, nil},
		{"an update that has the host already", []change{in("post"), leadsIn("/", host)}, []change{leadsIn("/", host)}, []change{leadsIn("/", host), image("nginx:2")}, nil},
		{"an update that takes the host", []change{in("post"), leadsIn("/", host)}, []change{leadsIn("/", "a.example.com")}, []change{leadsIn("/", host)},
			[]string{"spec.ingress.hosts[0]: " + warn.AlreadyRequested("host web.example.com with path /", "ModelBox mail in namespace post")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			strategy := newStrategy(webBox(row.other...))
			var old *model.ModelBox
			if row.old != nil {
				old = webBox(row.old...)
			}
			got := strategy.hostWarnings(byUser(t, "jane"), webBox(row.box...), old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWarningAboutAHostOfBothRoutes(t *testing.T) {
	parents := func(names ...string) []model.RouteParentReference {
		var parents []model.RouteParentReference
		for _, name := range names {
			parents = append(parents, model.RouteParentReference{Name: name, Port: ptr.To[int32](443)})
		}
		return parents
	}
	for _, row := range []struct {
		name       string
		http, grpc []string
		parents    []string
		want       []string
	}{
		{"the same host", []string{"a", "b"}, []string{"c", "b"}, []string{"other", "public"}, []string{"spec.grpcRoute.hosts[1]: " + warn.HostOfBothRoutes}},
		{"all hosts", nil, nil, []string{"public"}, []string{"spec.grpcRoute: " + warn.HostOfBothRoutes}},
		{"another host", []string{"a"}, []string{"b"}, []string{"public"}, nil},
		{"another parent", []string{"a"}, []string{"a"}, []string{"other"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := webBox(func(box *model.ModelBox) {
				box.Spec.Route = &model.ModelBoxRoute{ParentRefs: parents("public"), Hosts: row.http, Path: "/"}
				box.Spec.GRPCRoute = &model.ModelBoxGRPCRoute{ParentRefs: parents(row.parents...), Hosts: row.grpc}
			})
			if diff := cmp.Diff(row.want, newStrategy().WarningsOnCreate(t.Context(), box)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWarningAboutAClassThatIsTakenAway(t *testing.T) {
	want := "spec.ingress.className: " + warn.IngressLosesClass("web")
	old, box := webBox(leadsIn("/"), ofClass("nginx")), webBox(leadsIn("/"))
	if diff := cmp.Diff([]string{want}, newStrategy().WarningsOnUpdate(t.Context(), box, old)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, unaffected := range []*model.ModelBox{webBox(leadsIn("/"), ofClass("haproxy")), webBox()} {
		if got := newStrategy().WarningsOnUpdate(t.Context(), unaffected, old); len(got) > 0 {
			t.Errorf("got %q for %v, want none", got, unaffected.Spec.Ingress)
		}
	}
}
