// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

// guarded lets the box accept no connection.
func guarded(box *modelv1.ModelBox) { box.Spec.NetworkPolicy = &modelv1.ModelBoxNetworkPolicy{} }

// networkPolicies returns the NetworkPolicies of the cluster by name.
func (f *testController) networkPolicies(t *testing.T) map[string]networkingv1.NetworkPolicySpec {
	t.Helper()
	list, err := f.cluster.NetworkingV1().NetworkPolicies(fixture.WebKey.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	policies := map[string]networkingv1.NetworkPolicySpec{}
	for _, policy := range list.Items {
		policies[policy.Name] = policy.Spec
	}
	return policies
}

func TestReconcileWritesTheNetworkPolicyOnce(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, guarded))
	f.converge(t)
	f.restart()
	f.mustReconcile(t)
	check(t, "requests", []string(nil), f.requests())
	check(t, "policies", map[string]networkingv1.NetworkPolicySpec{"web": {
		PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{modelv1.SelectorLabel: "web"}},
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
	}}, f.networkPolicies(t))
}

// A policy whose last rule for outgoing connections is removed restricts these connections no longer.
func TestNetworkPolicyFollowsItsRules(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, func(box *modelv1.ModelBox) {
		box.Spec.NetworkPolicy = &modelv1.ModelBoxNetworkPolicy{Egress: []networkingv1.NetworkPolicyEgressRule{{}}}
	}))
	f.converge(t)
	check(t, "types with an outgoing rule", []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}, f.networkPolicies(t)["web"].PolicyTypes)
	f.update(t, guarded)
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "types without an outgoing rule", []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, f.networkPolicies(t)["web"].PolicyTypes)
}

func TestPoliciesOfJobsGoWithTheJobs(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, guarded, func(box *modelv1.ModelBox) {
		box.Spec.Before = &modelv1.ModelBoxJob{Args: []string{"migrate"}}
		modelv1.SetObjectDefaults_ModelBox(box)
	}))
	f.converge(t)
	check(t, "policies with a Job", []string{"web", "web-jobs"}, namesOfPolicies(f.networkPolicies(t)))
	check(t, "pods of Jobs", map[string]string{modelv1.JobBoxLabel: "web"}, f.networkPolicies(t)["web-jobs"].PodSelector.MatchLabels)
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Before = nil })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "policies without a Job", []string{"web"}, namesOfPolicies(f.networkPolicies(t)))
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.NetworkPolicy = nil })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "policies of a box without any", []string(nil), namesOfPolicies(f.networkPolicies(t)))
}

// An addition to a rule opens connections, so that the whole rule is restored.
func TestReconcileRestoresRulesOfTheNetworkPolicy(t *testing.T) {
	web := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
	network := networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "203.0.113.0/24", Except: []string{"203.0.113.8/29"}}}
	restricted := func(box *modelv1.ModelBox) {
		box.Spec.NetworkPolicy = &modelv1.ModelBoxNetworkPolicy{
			Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{web}, Ports: []networkingv1.NetworkPolicyPort{{Port: ptr.To(intstr.FromInt32(80))}}}},
			Egress:  []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{network}}},
		}
	}
	for name, change := range map[string]func(*networkingv1.NetworkPolicySpec){
		"another protocol": func(spec *networkingv1.NetworkPolicySpec) {
			spec.Ingress[0].Ports[0].Protocol = ptr.To(corev1.ProtocolUDP)
		},
		"a range of ports": func(spec *networkingv1.NetworkPolicySpec) { spec.Ingress[0].Ports[0].EndPort = ptr.To[int32](90) },
		"pods of all namespaces": func(spec *networkingv1.NetworkPolicySpec) {
			spec.Ingress[0].From[0].NamespaceSelector = &metav1.LabelSelector{}
		},
		"every pod": func(spec *networkingv1.NetworkPolicySpec) { spec.Ingress[0].From[0].PodSelector.MatchLabels = nil },
		"fewer pods": func(spec *networkingv1.NetworkPolicySpec) {
			spec.Ingress[0].From[0].PodSelector.MatchLabels["tier"] = "front"
		},
		"a further peer": func(spec *networkingv1.NetworkPolicySpec) {
			spec.Ingress[0].From = append(spec.Ingress[0].From, network)
		},
		"no peer, which is every": func(spec *networkingv1.NetworkPolicySpec) { spec.Ingress[0].From = nil },
		"a further rule": func(spec *networkingv1.NetworkPolicySpec) {
			spec.Ingress = append(spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
		},
		"no exception": func(spec *networkingv1.NetworkPolicySpec) { spec.Egress[0].To[0].IPBlock.Except = nil },
		"ports of a peer": func(spec *networkingv1.NetworkPolicySpec) {
			spec.Egress[0].Ports = []networkingv1.NetworkPolicyPort{{Port: ptr.To(intstr.FromInt32(443))}}
		},
		"one direction": func(spec *networkingv1.NetworkPolicySpec) { spec.PolicyTypes = spec.PolicyTypes[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t, restricted))
			f.converge(t)
			want := f.networkPolicies(t)["web"]
			policies := f.cluster.NetworkingV1().NetworkPolicies(fixture.WebKey.Namespace)
			changed, err := policies.Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			changed = changed.DeepCopy()
			change(&changed.Spec)
			if _, err := policies.Update(t.Context(), changed, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
				t.Fatal(err)
			}
			f.catchUp(t)
			f.mustReconcile(t)
			check(t, "policy", want, f.networkPolicies(t)["web"])
		})
	}
}

func namesOfPolicies(policies map[string]networkingv1.NetworkPolicySpec) []string {
	return slices.Sorted(maps.Keys(policies))
}
