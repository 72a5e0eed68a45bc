// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestNetworks(t *testing.T) {
	networks := func(names ...string) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Spec.Networks = names }
	}
	const annotation = "k8s.v1.cni.cncf.io/networks"
	annotated := func(box *model.ModelBox) { box.Spec.Annotations = map[string]string{annotation: "lan"} }
	overlay := func(change func(*corev1.PodTemplateSpec)) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{}
			change(box.Spec.PodTemplate)
		}
	}
	overlayAnnotated := overlay(func(template *corev1.PodTemplateSpec) { template.Annotations = map[string]string{annotation: "lan"} })
	onHost := overlay(func(template *corev1.PodTemplateSpec) { template.Spec.HostNetwork = true })
	var many []string
	for i := range 16 {
		many = append(many, fmt.Sprintf("lan-%d", i))
	}
	check(t, []row{
		{"none is accepted", networks(), nil},
		{"several are accepted", networks("lan", "storage"), nil},
		{"sixteen are accepted", networks(many...), nil},
		{"a name is that of a network", networks("lan", "Lan"), []string{"Invalid value: spec.networks[1]"}},
		{"a name is not empty", networks(""), []string{"Invalid value: spec.networks[0]"}},
		{"a name of another namespace is refused", networks("other/lan"), []string{"Invalid value: spec.networks[0]"}},
		{"a name with an interface is refused", networks("lan@net1"), []string{"Invalid value: spec.networks[0]"}},
		{"several names in one are refused", networks("lan,storage"), []string{"Invalid value: spec.networks[0]"}},
		{"a name twice is refused", networks("lan", "lan"), []string{"Duplicate value: spec.networks[1]"}},
		{"the annotation alone is accepted", annotated, nil},
		{"the annotation of the overlay alone is accepted", overlayAnnotated, nil},
		{"the annotation beside it is refused", all(networks("lan"), annotated), []string{"Forbidden: spec.annotations[" + annotation + "]"}},
		{"the annotation of the overlay beside it is refused", all(networks("lan"), overlayAnnotated), []string{"Forbidden: spec.podTemplate.metadata.annotations[" + annotation + "]"}},
		{"pods without interfaces of their own are refused", all(networks("lan"), onHost), []string{"Forbidden: spec.networks"}},
	})
}
