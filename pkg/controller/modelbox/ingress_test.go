// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// exposed gives the box an Ingress of class nginx.
func exposed(box *modelv1.ModelBox) {
	box.Spec.Ingress = &modelv1.ModelBoxIngress{Hosts: []string{"web.example.com"}, Path: "/", PathType: networkingv1.PathTypePrefix, ClassName: ptr.To("nginx")}
}

// newIngress returns an Ingress of class nginx, reached at the addresses.
func newIngress(name string, addresses ...networkingv1.IngressLoadBalancerIngress) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec:       networkingv1.IngressSpec{IngressClassName: ptr.To("nginx")},
		Status:     networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: addresses}},
	}
}

func TestReconcileWritesTheIngressOnce(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, exposed))
	f.converge(t)
	f.restart()
	f.mustReconcile(t)
	check(t, "requests", 0, len(f.cluster.Actions()))
	ingress, err := f.cluster.NetworkingV1().Ingresses(fixture.WebKey.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "host", "web.example.com", ingress.Spec.Rules[0].Host)
}

func TestReconcileRestoresAndPrunesTheIngress(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, exposed))
	f.converge(t)
	f.told()
	ingresses := f.cluster.NetworkingV1().Ingresses(fixture.WebKey.Namespace)
	changed, err := ingresses.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changed.Spec.Rules[0].Host = "other.example.com"
	if _, err := ingresses.Update(t.Context(), changed, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "events", []string{"Warning RestoredIngress Restored Ingress web: kubectl-edit had changed spec.rules"}, f.told())

	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Ingress = nil })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "events", []string{"Normal PrunedIngress Deleted Ingress web, which the box no longer specifies"}, f.told())
}

// The box does without what the cluster does not serve, and the rest of it is as it says.
func TestReconcileOfARouteThatIsNotServed(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, func(box *modelv1.ModelBox) {
		box.Spec.Route = &modelv1.ModelBoxRoute{ParentRefs: []modelv1.RouteParentReference{{Name: "public"}}, Path: "/", PathType: networkingv1.PathTypePrefix}
	}))
	check(t, "requeued after", children.RecheckPeriod, f.mustReconcile(t))
	check(t, "Applied", "False NotServed", f.status(t).applied)
	check(t, "Stalled", "True NotServed", f.status(t).stalled)
	check(t, "requests for routes", 0, len(f.gateway.Actions()))
	if f.deployment(t).Name != "web" {
		t.Error("there is no Deployment")
	}
}

func TestClassOfTheIngress(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t))
	without, with := newIngress("web"), newIngress("mail", networkingv1.IngressLoadBalancerIngress{IP: "192.0.2.1"})
	f.cache(t, without)
	for _, row := range []struct {
		name  string
		cache *networkingv1.Ingress
		of    *networkingv1.Ingress
		want  kinds.IngressClass
	}{
		{"no Ingress", nil, nil, kinds.IngressClass{}},
		{"a class of which no Ingress has an address", nil, without, kinds.IngressClass{Name: "nginx"}},
		{"a class of which another Ingress has an address", with, without, kinds.IngressClass{Name: "nginx", GivesAddresses: true}},
		{"another class", nil, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{kinds.IngressClassAnnotation: "haproxy"}}},
			kinds.IngressClass{Name: "haproxy"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.cache != nil {
				f.cache(t, row.cache)
			}
			got, err := kinds.IngressClassOf(row.of, f.ingresses, f.ingressClasses)
			if err != nil {
				t.Fatal(err)
			}
			if got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

func TestReadyWithAnIngressAndARoute(t *testing.T) {
	const available = "2 of 2 replicas are available"
	class := func(class kinds.IngressClass) func(*status.Observation) {
		return func(observed *status.Observation) { observed.Ingress, observed.IngressClass = newIngress("web"), class }
	}
	addressed := func(observed *status.Observation) {
		observed.Ingress = newIngress("web", networkingv1.IngressLoadBalancerIngress{Hostname: "lb.example.com"})
		observed.IngressClass = kinds.IngressClass{Name: "nginx", GivesAddresses: true}
	}
	route := func(parents ...gatewayv1.RouteParentStatus) func(*status.Observation) {
		return func(observed *status.Observation) {
			observed.HTTPRoute = &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			observed.HTTPRoute.Status.Parents = parents
		}
	}
	grpcRoute := func(parents ...gatewayv1.RouteParentStatus) func(*status.Observation) {
		return func(observed *status.Observation) {
			observed.GRPCRoute = &gatewayv1.GRPCRoute{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			observed.GRPCRoute.Status.Parents = parents
		}
	}
	parent := func(condition gatewayv1.RouteConditionType, status metav1.ConditionStatus, generation int64) gatewayv1.RouteParentStatus {
		return gatewayv1.RouteParentStatus{ParentRef: gatewayv1.ParentReference{Name: "public"}, Conditions: []metav1.Condition{{
			Type: string(condition), Status: status, ObservedGeneration: generation, Reason: "NotAllowedByListeners", Message: "no listener takes it",
		}}}
	}
	for _, row := range []struct {
		name     string
		observed func(*status.Observation)
		want     string
	}{
		{"neither", func(*status.Observation) {}, "Ready: " + available},
		{"an address", addressed, "Ready: " + available},
		{"a class that gives addresses", class(kinds.IngressClass{Name: "nginx", GivesAddresses: true}),
			`IngressAddressPending: the Ingress has no address from class "nginx" yet`},
		{"a class that is not known to give any", class(kinds.IngressClass{Name: "nginx"}), "Ready: " + available},
		{"a class that there is not", class(kinds.IngressClass{Name: "nginx", IsMissing: true}), "Ready: " + available + `; there is no IngressClass "nginx"`},
		{"no class", class(kinds.IngressClass{IsMissing: true}), "Ready: " + available + "; the Ingress has no class: the cluster had no default one when it was created"},
		{"a route that no Gateway has seen", route(), "Ready: " + available + "; no Gateway has accepted the HTTPRoute"},
		{"a route that is accepted", route(parent(gatewayv1.RouteConditionAccepted, metav1.ConditionTrue, 2)), "Ready: " + available},
		{"a route that is not accepted", route(parent(gatewayv1.RouteConditionAccepted, metav1.ConditionFalse, 2)),
			"RouteNotAccepted: Gateway public: Accepted is False: NotAllowedByListeners: no listener takes it"},
		{"a route whose Service is not taken", route(parent(gatewayv1.RouteConditionResolvedRefs, metav1.ConditionFalse, 2)),
			"RouteNotAccepted: Gateway public: ResolvedRefs is False: NotAllowedByListeners: no listener takes it"},
		{"a route that was not accepted before it changed", route(parent(gatewayv1.RouteConditionAccepted, metav1.ConditionFalse, 1)), "Ready: " + available},
		{"a GRPCRoute that no Gateway has seen", grpcRoute(), "Ready: " + available + "; no Gateway has accepted the GRPCRoute"},
		{"a GRPCRoute that is not accepted", grpcRoute(parent(gatewayv1.RouteConditionAccepted, metav1.ConditionFalse, 2)),
			"RouteNotAccepted: Gateway public: Accepted is False: NotAllowedByListeners: no listener takes it"},
		{"a route with another condition", route(parent("PartiallyInvalid", metav1.ConditionFalse, 2)), "Ready: " + available},
	} {
		t.Run(row.name, func(t *testing.T) {
			observed := complete()
			row.observed(observed)
			ready := meta.FindStatusCondition(status.ConditionsOf(fixture.WebBox(t), observed), modelv1.ConditionReady)
			check(t, "Ready", row.want, ready.Reason+": "+ready.Message)
		})
	}
}

func TestIngressAddressesInTheStatus(t *testing.T) {
	observed := complete()
	observed.Ingress = newIngress("web", networkingv1.IngressLoadBalancerIngress{IP: "192.0.2.1"}, networkingv1.IngressLoadBalancerIngress{Hostname: "lb.example.com"},
		networkingv1.IngressLoadBalancerIngress{})
	check(t, "addresses", []string{"192.0.2.1", "lb.example.com"}, status.Of(fixture.WebBox(t), observed).IngressAddresses)
}
