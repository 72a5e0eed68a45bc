// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func namesOfPolicies(policies map[string]networkingv1.NetworkPolicySpec) []string {
	var names []string
	for name := range policies {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
