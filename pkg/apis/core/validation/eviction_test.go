// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestEvictionResponders(t *testing.T) {
	responders := func(responders ...corev1.EvictionResponder) func(*corev1.PodTemplateSpec) {
		return pod(func(spec *corev1.PodSpec) { spec.EvictionResponders = responders })
	}
	responder := func(name string, priority int32) corev1.EvictionResponder {
		return corev1.EvictionResponder{Name: name, Priority: &priority}
	}
	many := func(count int) (all []corev1.EvictionResponder) {
		for i := range count {
			all = append(all, responder(fmt.Sprintf("example.com/responder-%d", i), 10_000))
		}
		return all
	}
	const name, priority = "spec.evictionResponders[0].name", "spec.evictionResponders[0].priority"
	check(t, []row{
		{"responders of the lowest and the highest priority are accepted", responders(responder("example.com/a", 1_000), responder("k8s.io.example.com/b", 100_000)), nil},
		{"a responder has a name", responders(responder("", 1_000)), []string{"Required value: " + name}},
		{"a responder's name has a domain", responders(responder("a", 1_000)), []string{"Invalid value: " + name}},
		{"a responder is not of k8s.io", responders(responder("k8s.io/a", 1_000)), []string{"Invalid value: " + name}},
		{"a responder is not of a domain of kubernetes.io", responders(responder("node.kubernetes.io/a", 1_000)), []string{"Invalid value: " + name}},
		{"a responder is listed once", responders(responder("example.com/a", 1_000), responder("example.com/a", 2_000)), []string{"Duplicate value: spec.evictionResponders[1].name"}},
		{"a responder has a priority", responders(corev1.EvictionResponder{Name: "example.com/a"}), []string{"Required value: " + priority}},
		{"a priority below 1000 is Kubernetes' own", responders(responder("example.com/a", 999)), []string{"Invalid value: " + priority}},
		{"a priority is at most 100000", responders(responder("example.com/a", 100_001)), []string{"Invalid value: " + priority}},
		{"10 responders are accepted", responders(many(10)...), nil},
		{"11 responders are refused", responders(many(11)...), []string{"Too many: spec.evictionResponders"}},
		{"the pods of a group have none", all(responders(many(1)...), pod(func(spec *corev1.PodSpec) {
			spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("training")}
		})), []string{"Forbidden: spec.schedulingGroup"}},
	})
}
