// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applynetworkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// networkPolicies returns the NetworkPolicy of the pods of the box, and of the pods of its Jobs if it has any. The pods of Jobs do not
// have the labels of the pods of the box.
func networkPolicies(box *modelv1.ModelBox) ([]runtime.ApplyConfiguration, error) {
	policy := withProtocols(box.Spec.NetworkPolicy)
	ofPods, err := networkPolicy(box, box.Name, networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: Selector(box)},
		PolicyTypes: PolicyTypes(policy),
		Ingress:     policy.Ingress,
		Egress:      policy.Egress,
	})
	if err != nil || box.Spec.Before == nil && box.Spec.After == nil {
		return []runtime.ApplyConfiguration{ofPods}, err
	}
	ofJobs, err := networkPolicy(box, helper.JobsNetworkPolicyName(box.Name), networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{modelv1.JobBoxLabel: box.Name}},
		PolicyTypes: PolicyTypes(policy),
		Egress:      policy.Egress,
	})
	return []runtime.ApplyConfiguration{ofPods, ofJobs}, err
}

// withProtocols returns the policy with the default protocol of ports. The API would add it to the rules, which are compared as a whole.
func withProtocols(policy *modelv1.ModelBoxNetworkPolicy) *modelv1.ModelBoxNetworkPolicy {
	policy = policy.DeepCopy()
	set := func(ports []networkingv1.NetworkPolicyPort) {
		for i := range ports {
			if ports[i].Protocol == nil {
				ports[i].Protocol = ptr.To(corev1.ProtocolTCP)
			}
		}
	}
	for i := range policy.Ingress {
		set(policy.Ingress[i].Ports)
	}
	for i := range policy.Egress {
		set(policy.Egress[i].Ports)
	}
	return policy
}

// PolicyTypes returns the directions that the policy restricts. A NetworkPolicy without policyTypes would keep the default that it had
// when it was created, and restrict outgoing connections after the last rule for them was removed.
func PolicyTypes(policy *modelv1.ModelBoxNetworkPolicy) []networkingv1.PolicyType {
	switch {
	case len(policy.PolicyTypes) > 0:
		return policy.PolicyTypes
	case len(policy.Egress) > 0:
		return []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}
	default:
		return []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	}
}

func networkPolicy(box *modelv1.ModelBox, name string, spec networkingv1.NetworkPolicySpec) (*applynetworkingv1.NetworkPolicyApplyConfiguration, error) {
	configuration := applynetworkingv1.NetworkPolicySpec()
	if err := render.ConvertSet(&spec, configuration); err != nil {
		return nil, err
	}
	return applynetworkingv1.NetworkPolicy(name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(configuration), nil
}
