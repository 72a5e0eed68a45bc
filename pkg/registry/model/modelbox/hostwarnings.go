// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// hostAndPath is a host with a path, which only one Ingress, one HTTPRoute and one GRPCRoute should have.
type hostAndPath struct {
	host, path string
	// of is "ingress" with its class, "route" or "grpcRoute". Controllers of different classes do not see the same Ingresses.
	of string
}

// hostWarnings names the boxes that route the same host and path to themselves, for each host and path that the update adds. It is
// undefined which of these boxes gets the requests.
func (s Strategy) hostWarnings(ctx context.Context, box, old *model.ModelBox) []string {
	asked := hostsAndPaths(box)
	if old != nil {
		for key := range hostsAndPaths(old) {
			delete(asked, key)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	boxes, err := s.listAll(ctx)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Looking for the hosts of other boxes failed", "err", err)
		return nil
	}
	var warnings []string
	visible := s.visibility()
	for i := range boxes.Items {
		other := &boxes.Items[i]
		if other.Namespace == box.Namespace && other.Name == box.Name {
			continue
		}
		for key := range hostsAndPaths(other) {
			if path, isAsked := asked[key]; isAsked && len(warnings) < maxWarnings {
				warnings = append(warnings, fmt.Sprintf("%s: %s", path, warn.AlreadyRequested(fmt.Sprintf("host %s with path %s", key.host, key.path), visible.name(ctx, other))))
				delete(asked, key)
			}
		}
	}
	slices.Sort(warnings)
	return warnings
}

// hostsAndPaths returns the hosts and paths of the box, and the path of the field of each. Rules of a route with more conditions do
// not get all requests of a path.
func hostsAndPaths(box *model.ModelBox) map[hostAndPath]*field.Path {
	found := map[hostAndPath]*field.Path{}
	add := func(of string, hosts []string, urlPath string, path *field.Path) {
		for i, host := range hosts {
			found[hostAndPath{host, urlPath, of}] = path.Child("hosts").Index(i)
		}
		if len(hosts) == 0 {
			found[hostAndPath{"*", urlPath, of}] = path
		}
	}
	if ingress := box.Spec.Ingress; ingress != nil {
		of, path := "ingress/"+ptr.Deref(ingress.ClassName, ""), field.NewPath("spec", "ingress")
		add(of, ingress.Hosts, ingress.Path, path)
		for i := range ingress.Paths {
			add(of, ingress.Hosts, ingress.Paths[i].Path, path)
		}
	}
	if route := box.Spec.Route; route != nil && len(route.Hosts) > 0 {
		for urlPath := range routePaths(route) {
			add("route", route.Hosts, urlPath, field.NewPath("spec", "route"))
		}
	}
	if route := box.Spec.GRPCRoute; route != nil && len(route.Hosts) > 0 {
		for urlPath := range grpcRoutePaths(route) {
			add("grpcRoute", route.Hosts, urlPath, field.NewPath("spec", "grpcRoute"))
		}
	}
	return found
}

// routePaths returns the paths of which a route gets all requests.
func routePaths(route *model.ModelBoxRoute) sets.Set[string] {
	if len(route.Rules) == 0 {
		return sets.New(route.Path)
	}
	paths := sets.New[string]()
	for i := range route.Rules {
		rule := &route.Rules[i]
		if len(rule.Matches) == 0 {
			paths.Insert("/")
		}
		for j := range rule.Matches {
			if match := &rule.Matches[j]; match.Method == "" && len(match.Headers) == 0 && len(match.QueryParams) == 0 {
				paths.Insert(match.Path)
			}
		}
	}
	return paths
}

// grpcRoutePaths returns the paths of which a GRPCRoute gets all requests: "/" for all services, "/<service>/" for all methods of a
// service, and "/<service>/<method>", which is the path of a request in HTTP.
func grpcRoutePaths(route *model.ModelBoxGRPCRoute) sets.Set[string] {
	paths := sets.New[string]()
	if len(route.Rules) == 0 {
		paths.Insert("/")
	}
	for i := range route.Rules {
		rule := &route.Rules[i]
		if len(rule.Matches) == 0 {
			paths.Insert("/")
		}
		for j := range rule.Matches {
			match := &rule.Matches[j]
			switch method := match.Method; {
			case len(match.Headers) > 0:
			case method == nil:
				paths.Insert("/")
			case method.Type == model.RouteValueMatchExact && method.Service != "":
				paths.Insert("/" + method.Service + "/" + method.Method)
			}
		}
	}
	return paths
}

// sharedHostWarnings is about hosts for which the HTTPRoute and the GRPCRoute of a box are attached to the same Gateway. The Gateway
// API lets a listener accept only one of two such routes.
func sharedHostWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	httpRoute, grpcRoute := spec.Route, spec.GRPCRoute
	if httpRoute == nil || grpcRoute == nil || !haveSameParent(httpRoute.ParentRefs, grpcRoute.ParentRefs) {
		return nil
	}
	path = path.Child("grpcRoute")
	if len(httpRoute.Hosts) == 0 && len(grpcRoute.Hosts) == 0 {
		return []string{fmt.Sprintf("%s: %s", path, warn.HostOfBothRoutes)}
	}
	var warnings []string
	for i, host := range grpcRoute.Hosts {
		if slices.Contains(httpRoute.Hosts, host) {
			warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("hosts").Index(i), warn.HostOfBothRoutes))
		}
	}
	return warnings
}

func haveSameParent(parents, others []model.RouteParentReference) bool {
	return slices.ContainsFunc(parents, func(parent model.RouteParentReference) bool {
		return slices.ContainsFunc(others, func(other model.RouteParentReference) bool { return apiequality.Semantic.DeepEqual(parent, other) })
	})
}

// ingressUpdateWarnings warns about an Ingress that loses its class. The cluster sets its default class on new Ingresses only.
func ingressUpdateWarnings(box, old *model.ModelBox) []string {
	if old.Spec.Ingress == nil || box.Spec.Ingress == nil || old.Spec.Ingress.ClassName == nil || box.Spec.Ingress.ClassName != nil {
		return nil
	}
	return []string{"spec.ingress.className: " + warn.IngressLosesClass(box.Name)}
}
