// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func TestNetworkPolicySpec(t *testing.T) {
	for _, row := range []struct {
		name, spec string
		want       []string
	}{
		{"no rule", "{}", nil},
		{"both directions", "{policyTypes: [Ingress, Egress]}", nil},
		{"a rule without peers and ports", "{ingress: [{}], egress: [{}]}", nil},
		{"pods of all namespaces", "{ingress: [{from: [{namespaceSelector: {}, podSelector: {}}]}]}", nil},
		{"a range of ports", "{egress: [{ports: [{port: 80, endPort: 90, protocol: TCP}, {port: http}, {protocol: UDP}]}]}", nil},
		{"a network with exceptions", "{egress: [{to: [{ipBlock: {cidr: 203.0.113.0/24, except: [203.0.113.8/29]}}]}]}", nil},

		{"another direction", "{policyTypes: [Out]}", []string{"Unsupported value: spec.policyTypes[0]"}},
		{"three directions", "{policyTypes: [Ingress, Egress, Ingress]}", []string{"Invalid value: spec.policyTypes"}},
		{"another protocol", "{ingress: [{ports: [{protocol: ICMP}]}]}", []string{"Unsupported value: spec.ingress[0].ports[0].protocol"}},
		{"a port of 0", "{ingress: [{ports: [{port: 0}]}]}", []string{"Invalid value: spec.ingress[0].ports[0].port"}},
		{"the name of a port", "{egress: [{ports: [{port: no_name}]}]}", []string{"Invalid value: spec.egress[0].ports[0].port"}},
		{"the end of a named port", "{egress: [{ports: [{port: http, endPort: 90}]}]}", []string{"Invalid value: spec.egress[0].ports[0].endPort"}},
		{"the end of no port", "{egress: [{ports: [{endPort: 90}]}]}", []string{"Invalid value: spec.egress[0].ports[0].endPort"}},
		{"an end before the port", "{egress: [{ports: [{port: 80, endPort: 79}]}]}", []string{"Invalid value: spec.egress[0].ports[0].endPort"}},
		{"an end that is no port", "{egress: [{ports: [{port: 80, endPort: 70000}]}]}", []string{"Invalid value: spec.egress[0].ports[0].endPort"}},
		{"no peer", "{ingress: [{from: [{}]}]}", []string{"Required value: spec.ingress[0].from[0]"}},
		{"pods and a network", "{egress: [{to: [{podSelector: {}, ipBlock: {cidr: 203.0.113.0/24}}]}]}", []string{"Forbidden: spec.egress[0].to[0]"}},
		{"a selector of pods", "{ingress: [{from: [{podSelector: {matchLabels: {'-': a}}}]}]}", []string{"Invalid value: spec.ingress[0].from[0].podSelector.matchLabels"}},
		{"a selector of namespaces", "{ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}]}]}",
			[]string{"Required value: spec.ingress[0].from[0].namespaceSelector.matchExpressions[0].values"}},
		{"no network", "{egress: [{to: [{ipBlock: {cidr: ''}}]}]}", []string{"Required value: spec.egress[0].to[0].ipBlock.cidr"}},
		{"an address", "{egress: [{to: [{ipBlock: {cidr: 203.0.113.1}}]}]}", []string{"Invalid value: spec.egress[0].to[0].ipBlock.cidr"}},
		{"an exception of another network", "{egress: [{to: [{ipBlock: {cidr: 203.0.113.0/24, except: [192.0.2.0/25]}}]}]}",
			[]string{"Invalid value: spec.egress[0].to[0].ipBlock.except[0]"}},
		{"an exception of the whole network", "{egress: [{to: [{ipBlock: {cidr: 203.0.113.0/24, except: [203.0.113.0/24]}}]}]}",
			[]string{"Invalid value: spec.egress[0].to[0].ipBlock.except[0]"}},
		{"an exception that is no network", "{egress: [{to: [{ipBlock: {cidr: 203.0.113.0/24, except: [all]}}]}]}",
			[]string{"Invalid value: spec.egress[0].to[0].ipBlock.except[0]"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			spec := &networkingv1.NetworkPolicySpec{}
			if err := yaml.UnmarshalStrict([]byte(row.spec), spec); err != nil {
				t.Fatal(err)
			}
			errs := ValidateNetworkPolicySpec(spec, field.NewPath("spec"))
			var got []string
			for _, err := range errs {
				got = append(got, err.Type.String()+": "+err.Field)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, errs.ToAggregate())
			}
		})
	}
}
