// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestScheduling(t *testing.T) {
	gates := func(names ...string) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			for _, name := range names {
				spec.SchedulingGates = append(spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
			}
		})
	}
	node := pod(func(spec *corev1.PodSpec) { spec.NodeName = "node-1.example.com" })
	group := func(name *string) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: name} })
	}
	overhead := func(overhead quantities, class *string) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.Overhead, spec.RuntimeClassName = overhead.list(), class })
	}
	check(t, []row{
		{"a node selector is accepted", pod(func(spec *corev1.PodSpec) { spec.NodeSelector = map[string]string{"example.com/disk": "ssd"} }), nil},
		{"a node selector's key is a label", pod(func(spec *corev1.PodSpec) { spec.NodeSelector = map[string]string{"a b": ""} }), []string{"Invalid value: spec.nodeSelector"}},
		{"a node selector's value is a label value", pod(func(spec *corev1.PodSpec) { spec.NodeSelector = map[string]string{"disk": "a b"} }), []string{"Invalid value: spec.nodeSelector"}},
		{"a node is accepted", node, nil},
		{"a node's name is a DNS name", pod(func(spec *corev1.PodSpec) { spec.NodeName = "Node" }), []string{"Invalid value: spec.nodeName"}},
		{"a scheduler may be any", pod(func(spec *corev1.PodSpec) { spec.SchedulerName = "any" }), nil},
		{"gates are accepted", gates("example.com/a", "b"), nil},
		{"a gate has a name", gates(""), []string{"Required value: spec.schedulingGates[0].name"}},
		{"a gate's name is qualified", gates("a b"), []string{"Invalid value: spec.schedulingGates[0].name"}},
		{"a gate is listed once", gates("a", "a"), []string{"Duplicate value: spec.schedulingGates[1].name"}},
		{"a gate is before the choice of a node", all(node, gates("a")), []string{"Forbidden: spec.nodeName"}},
		{"a group is accepted", group(ptr.To("training")), nil},
		{"a group has a name", group(nil), []string{"Required value: spec.schedulingGroup.podGroupName"}},
		{"a group's name is a DNS name", group(ptr.To("A")), []string{"Invalid value: spec.schedulingGroup.podGroupName"}},
		{"a priority class is accepted", pod(func(spec *corev1.PodSpec) {
			spec.PriorityClassName, spec.PreemptionPolicy = "high", ptr.To(corev1.PreemptNever)
		}), nil},
		{"a priority class's name is a DNS name", pod(func(spec *corev1.PodSpec) { spec.PriorityClassName = "High" }), []string{"Invalid value: spec.priorityClassName"}},
		{"a preemption policy is one of those there are", pod(func(spec *corev1.PodSpec) { spec.PreemptionPolicy = ptr.To(corev1.PreemptionPolicy("Always")) }), []string{"Unsupported value: spec.preemptionPolicy"}},
		{"a readiness gate is accepted", pod(func(spec *corev1.PodSpec) {
			spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/a"}}
		}), nil},
		{"a readiness gate is a qualified name", pod(func(spec *corev1.PodSpec) { spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "a b"}} }),
			[]string{"Invalid value: spec.readinessGates[0].conditionType"}},
		{"a runtime class is accepted with its overhead", overhead(quantities{"cpu": "100m"}, ptr.To("gvisor")), nil},
		{"a runtime class's name is a DNS name", overhead(nil, ptr.To("gVisor")), []string{"Invalid value: spec.runtimeClassName"}},
		{"an overhead without a runtime class", overhead(quantities{"cpu": "100m"}, nil), []string{"Forbidden: spec.overhead"}},
		{"an overhead is of a container's resources", overhead(quantities{"gpu": "1"}, ptr.To("gvisor")), []string{"Invalid value: spec.overhead[gpu]"}},
		{"an overhead is not negative", overhead(quantities{"cpu": "-1"}, ptr.To("gvisor")), []string{"Invalid value: spec.overhead[cpu]"}},
		{"an overhead of huge pages comes with memory", overhead(quantities{"hugepages-2Mi": "2Mi"}, ptr.To("gvisor")), []string{"Forbidden: spec.overhead"}},
	})
}

func TestTolerations(t *testing.T) {
	toleration := func(toleration corev1.Toleration) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.Tolerations = []corev1.Toleration{toleration} })
	}
	const path = "spec.tolerations[0]."
	check(t, []row{
		{"a toleration of a taint is accepted", toleration(corev1.Toleration{Key: "a", Value: "b", Effect: corev1.TaintEffectNoSchedule}), nil},
		{"a toleration of everything is accepted", toleration(corev1.Toleration{Operator: corev1.TolerationOpExists}), nil},
		{"a toleration for a while is accepted", toleration(corev1.Toleration{Key: "a", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](1)}), nil},
		{"a toleration for a while is of NoExecute", toleration(corev1.Toleration{Key: "a", TolerationSeconds: ptr.To[int64](1)}), []string{"Forbidden: " + path + "tolerationSeconds"}},
		{"a toleration's key is a label", toleration(corev1.Toleration{Key: "a b"}), []string{"Invalid value: " + path + "key"}},
		{"a toleration of a value has a key", toleration(corev1.Toleration{Value: "a"}), []string{"Required value: " + path + "key"}},
		{"a toleration's value is a label value", toleration(corev1.Toleration{Key: "a", Operator: corev1.TolerationOpEqual, Value: "a b"}), []string{"Invalid value: " + path + "value"}},
		{"a toleration of a key has no value", toleration(corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists, Value: "b"}), []string{"Forbidden: " + path + "value"}},
		{"a toleration does not compare yet", toleration(corev1.Toleration{Key: "a", Operator: corev1.TolerationOpGt, Value: "1"}), []string{"Unsupported value: " + path + "operator"}},
		{"a toleration's effect is one of those there are", toleration(corev1.Toleration{Key: "a", Effect: "NoStart"}), []string{"Unsupported value: " + path + "effect"}},
	})
}

func TestNodeAffinity(t *testing.T) {
	required := func(terms ...corev1.NodeSelectorTerm) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
			}}
		})
	}
	preferred := func(weight int32, term corev1.NodeSelectorTerm) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: weight, Preference: term}},
			}}
		})
	}
	expression := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	nodeField := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	const terms, preference = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
	const inExpression, inField = terms + "[0].matchExpressions[0].", terms + "[0].matchFields[0]."
	check(t, []row{
		{"terms are accepted", required(expression("disk", "In", "ssd", "nvme"), expression("gpu", "Exists"), expression("cores", "Gt", "8"), nodeField("metadata.name", "NotIn", "a")), nil},
		{"a term without conditions is accepted", required(corev1.NodeSelectorTerm{}), nil},
		{"a selector has a term", required(), []string{"Required value: " + terms}},
		{"an operator is one of those there are", required(expression("disk", "Is", "ssd")), []string{"Unsupported value: " + inExpression + "operator"}},
		{"a key is a label", required(expression("a b", "Exists")), []string{"Invalid value: " + inExpression + "key"}},
		{"In has values", required(expression("disk", "In")), []string{"Required value: " + inExpression + "values"}},
		{"NotIn has values", required(expression("disk", "NotIn")), []string{"Required value: " + inExpression + "values"}},
		{"Exists has no values", required(expression("disk", "Exists", "ssd")), []string{"Forbidden: " + inExpression + "values"}},
		{"Gt has one value", required(expression("cores", "Gt", "1", "2")), []string{"Required value: " + inExpression + "values"}},
		{"a value is a label value", required(expression("disk", "In", "ssd", "a b")), []string{"Invalid value: " + inExpression + "values[1]"}},
		{"a field is the name of the node", required(nodeField("spec.unschedulable", "In", "a")), []string{"Unsupported value: " + inField + "key"}},
		{"a field is compared with In or NotIn", required(nodeField("metadata.name", "Exists", "a")), []string{"Unsupported value: " + inField + "operator"}},
		{"a field has one value", required(nodeField("metadata.name", "In", "a", "b")), []string{"Required value: " + inField + "values"}},
		{"a field's value is a DNS name", required(nodeField("metadata.name", "In", "A")), []string{"Invalid value: " + inField + "values[0]"}},

		{"a preference is accepted", preferred(100, expression("disk", "In", "ssd")), nil},
		{"a preference has a weight", preferred(0, expression("disk", "In", "ssd")), []string{"Invalid value: " + preference + "weight"}},
		{"a preference's weight is at most 100", preferred(101, expression("disk", "In", "ssd")), []string{"Invalid value: " + preference + "weight"}},
		{"a preference is validated", preferred(1, expression("disk", "Is")), []string{"Unsupported value: " + preference + "preference.matchExpressions[0].operator"}},
		{"a preference's value may be none that a node has", preferred(1, expression("disk", "In", "a b")), nil},
	})
}

func selecting(keys ...string) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	for _, key := range keys {
		selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpExists})
	}
	return selector
}

func TestPodAffinity(t *testing.T) {
	with := func(change func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
		term := corev1.PodAffinityTerm{TopologyKey: "topology.kubernetes.io/zone", LabelSelector: selecting("app")}
		change(&term)
		return term
	}
	affinity := func(change func(*corev1.PodAffinityTerm)) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{with(change)}}}
		})
	}
	antiAffinity := func(change func(*corev1.PodAffinityTerm)) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{with(change)}}}
		})
	}
	preferred := func(weight int32, change func(*corev1.PodAffinityTerm)) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: with(change)}},
			}}
		})
	}
	same := func(*corev1.PodAffinityTerm) {}
	noKey := func(term *corev1.PodAffinityTerm) { term.TopologyKey = "" }
	const term = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
	const anti, weighted = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].", "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
	check(t, []row{
		{"a term is accepted", affinity(func(term *corev1.PodAffinityTerm) {
			term.Namespaces, term.NamespaceSelector, term.MatchLabelKeys, term.MismatchLabelKeys = []string{"a"}, selecting("team"), []string{"pod-template-hash"}, []string{"tenant"}
		}), nil},
		{"a term has a topology", affinity(noKey), []string{"Required value: " + term + "topologyKey"}},
		{"a topology is a label", affinity(func(term *corev1.PodAffinityTerm) { term.TopologyKey = "a b" }), []string{"Invalid value: " + term + "topologyKey"}},
		{"a namespace is a DNS label", affinity(func(term *corev1.PodAffinityTerm) { term.Namespaces = []string{"a", "a.b"} }), []string{"Invalid value: " + term + "namespaces[1]"}},
		{"a selector is validated", affinity(func(term *corev1.PodAffinityTerm) { term.LabelSelector.MatchExpressions[0].Operator = "Is" }),
			[]string{"Invalid value: " + term + "labelSelector.matchExpressions[0].operator"}},
		{"a selector of namespaces is validated", affinity(func(term *corev1.PodAffinityTerm) { term.NamespaceSelector = selecting("a b") }),
			[]string{"Invalid value: " + term + "namespaceSelector.matchExpressions[0].key"}},
		{"keys need a selector", affinity(func(term *corev1.PodAffinityTerm) { term.LabelSelector, term.MatchLabelKeys = nil, []string{"a"} }), []string{"Forbidden: " + term + "matchLabelKeys"}},
		{"keys of others need a selector", affinity(func(term *corev1.PodAffinityTerm) { term.LabelSelector, term.MismatchLabelKeys = nil, []string{"a"} }),
			[]string{"Forbidden: " + term + "mismatchLabelKeys"}},
		{"a key is a label", affinity(func(term *corev1.PodAffinityTerm) { term.MatchLabelKeys = []string{"a b"} }), []string{"Invalid value: " + term + "matchLabelKeys[0]"}},
		{"a key may be listed twice", affinity(func(term *corev1.PodAffinityTerm) { term.MatchLabelKeys = []string{"a", "a"} }), nil},
		{"a key is not selected already", affinity(func(term *corev1.PodAffinityTerm) { term.MatchLabelKeys = []string{"app"} }), []string{"Invalid value: " + term + "matchLabelKeys[0]"}},
		{"a key is not selected by its value", affinity(func(term *corev1.PodAffinityTerm) {
			term.LabelSelector.MatchLabels, term.MatchLabelKeys = map[string]string{"tier": "a"}, []string{"tier"}
		}), []string{"Invalid value: " + term + "matchLabelKeys[0]"}},
		{"a label key of other pods may be selected", affinity(func(term *corev1.PodAffinityTerm) { term.MismatchLabelKeys = []string{"app"} }), nil},
		{"a key is not one of others too", affinity(func(term *corev1.PodAffinityTerm) {
			term.MatchLabelKeys, term.MismatchLabelKeys = []string{"a"}, []string{"a"}
		}),
			[]string{"Invalid value: " + term + "matchLabelKeys[0]"}},

		{"an anti-affinity is accepted", antiAffinity(same), nil},
		{"an anti-affinity is validated", antiAffinity(noKey), []string{"Required value: " + anti + "topologyKey"}},
		{"a preference is accepted", preferred(1, same), nil},
		{"a preference has a weight", preferred(0, same), []string{"Invalid value: " + weighted + "weight"}},
		{"a preference's weight is at most 100", preferred(101, same), []string{"Invalid value: " + weighted + "weight"}},
		{"a preference is validated", preferred(1, noKey), []string{"Required value: " + weighted + "podAffinityTerm.topologyKey"}},
	})
}

func TestTopologySpread(t *testing.T) {
	constraint := func(change func(*corev1.TopologySpreadConstraint)) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) {
			c := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selecting("app")}
			change(&c)
			spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
		})
	}
	same := func(*corev1.TopologySpreadConstraint) {}
	anyway := func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }
	const path = "spec.topologySpreadConstraints[0]."
	check(t, []row{
		{"a constraint is accepted", constraint(func(c *corev1.TopologySpreadConstraint) {
			c.MinDomains, c.MatchLabelKeys = ptr.To[int32](2), []string{"pod-template-hash"}
			c.NodeAffinityPolicy, c.NodeTaintsPolicy = ptr.To(corev1.NodeInclusionPolicyHonor), ptr.To(corev1.NodeInclusionPolicyIgnore)
		}), nil},
		{"a constraint without a selector is accepted", constraint(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }), nil},
		{"two kinds of constraints are accepted", all(constraint(same), constraint(anyway)), nil},
		{"a kind of constraint is listed once", all(constraint(same), constraint(same)), []string{"Duplicate value: spec.topologySpreadConstraints[1]"}},
		{"a skew is above 0", constraint(func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 0 }), []string{"Invalid value: " + path + "maxSkew"}},
		{"a constraint has a topology", constraint(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey = "" }), []string{"Required value: " + path + "topologyKey"}},
		{"a constraint says what else", constraint(func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = "" }), []string{"Unsupported value: " + path + "whenUnsatisfiable"}},
		{"domains are more than 0", constraint(func(c *corev1.TopologySpreadConstraint) { c.MinDomains = ptr.To[int32](0) }), []string{"Invalid value: " + path + "minDomains"}},
		{"domains are counted before scheduling only", constraint(func(c *corev1.TopologySpreadConstraint) { anyway(c); c.MinDomains = ptr.To[int32](1) }), []string{"Forbidden: " + path + "minDomains"}},
		{"a selector is validated", constraint(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = selecting("a b") }),
			[]string{"Invalid value: " + path + "labelSelector.matchExpressions[0].key"}},
		{"keys need a selector", constraint(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector, c.MatchLabelKeys = nil, []string{"a"} }), []string{"Forbidden: " + path + "matchLabelKeys"}},
		{"a key is not selected already", constraint(func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"app"} }), []string{"Invalid value: " + path + "matchLabelKeys[0]"}},
		{"affinity counts or not", constraint(func(c *corev1.TopologySpreadConstraint) {
			c.NodeAffinityPolicy = ptr.To(corev1.NodeInclusionPolicy(""))
		}), []string{"Unsupported value: " + path + "nodeAffinityPolicy"}},
		{"taints count or not", constraint(func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = ptr.To(corev1.NodeInclusionPolicy("")) }), []string{"Unsupported value: " + path + "nodeTaintsPolicy"}},
	})
}
