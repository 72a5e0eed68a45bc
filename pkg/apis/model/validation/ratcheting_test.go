// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

func TestRatchet(t *testing.T) {
	path := field.NewPath("spec", "podTemplate")
	c := func(name, image string, env ...corev1.EnvVar) corev1.Container {
		return corev1.Container{Name: name, Image: image, Env: env}
	}
	env := func(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }
	toleration := func(key, value string) corev1.Toleration { return corev1.Toleration{Key: key, Value: value} }
	port := func(number int32, protocol corev1.Protocol, name string) corev1.ContainerPort {
		return corev1.ContainerPort{ContainerPort: number, Protocol: protocol, Name: name}
	}
	of := func(containers ...corev1.Container) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers}}
	}
	tolerating := func(tolerations ...corev1.Toleration) *corev1.PodTemplateSpec {
		template := of(c("a", "i"))
		template.Spec.Tolerations = tolerations
		return template
	}
	serving := func(ports ...corev1.ContainerPort) *corev1.PodTemplateSpec {
		template := of(c("a", "i"))
		template.Spec.Containers[0].Ports = ports
		return template
	}
	selecting := func(selector map[string]string) *corev1.PodTemplateSpec {
		template := of(c("a", "i"))
		template.Annotations = selector
		return template
	}
	const noImage = "Required value: spec.podTemplate.spec.containers[%d].image"
	const wrongImage = "Invalid value: spec.podTemplate.spec.containers[%d].image"
	const deletionCost = "controller.kubernetes.io/pod-deletion-cost"
	at := func(format string, index int) []string { return []string{fmt.Sprintf(format, index)} }

	for _, row := range []struct {
		name     string
		old, new *corev1.PodTemplateSpec
		want     []string
	}{
		{"an error of before does not count", of(c("a", "")), of(c("a", "")), nil},
		{"an error of now counts", of(c("a", "i")), of(c("a", "")), at(noImage, 0)},
		{"an error that is gone is gone", of(c("a", "")), of(c("a", "i")), nil},
		{"another wrong value counts", of(c("a", "a b")), of(c("a", "b c")), at(wrongImage, 0)},
		{"another kind of error counts", of(c("a", "a b")), of(c("a", "")), at(noImage, 0)},
		{"what else changes in the element does not matter", of(c("a", "", env("A", "1"))), of(c("a", "", env("A", "2"))), nil},
		{"an error of another field of the element counts", of(c("a", "")), of(c("a", "", env("A=", ""))),
			[]string{"Invalid value: spec.podTemplate.spec.containers[0].env[0].name"}},

		{"an element moves", of(c("a", ""), c("b", "i")), of(c("b", "i"), c("a", "")), nil},
		{"an element moves behind a new one", of(c("a", "")), of(c("n", "i"), c("a", "")), nil},
		{"a new element has no old errors, wherever it is", of(c("a", "")), of(c("n", ""), c("a", "")), at(noImage, 0)},
		{"an element with another key is a new one", of(c("a", "")), of(c("b", "")), at(noImage, 0)},
		{"the error of an element that is gone excuses no other one", of(c("a", ""), c("b", "i")), of(c("b", "")), at(noImage, 0)},
		{"an element in an element moves with it", of(c("a", "i", env("A=", ""), env("B", "")), c("b", "i")), of(c("b", "i"), c("a", "i", env("B", ""), env("A=", ""))), nil},
		{"what is in an element does not move to another one", of(c("a", "i", env("A=", "")), c("b", "i")), of(c("a", "i"), c("b", "i", env("A=", ""))),
			[]string{"Invalid value: spec.podTemplate.spec.containers[1].env[0].name"}},
		{"a key that is there twice stays", of(c("a", "i"), c("a", "j")), of(c("a", "j"), c("a", "i")), nil},
		{"a key that is there twice does not come a third time", of(c("a", "i"), c("a", "j")), of(c("a", "i"), c("a", "j"), c("a", "k")),
			[]string{"Duplicate value: spec.podTemplate.spec.containers[2].name"}},
		{"of two elements with a key, each keeps its own error",
			serving(port(53, "TCP", "a_"), port(53, "UDP", "b")), serving(port(53, "TCP", "a_"), port(53, "UDP", "b_")),
			[]string{"Invalid value: spec.podTemplate.spec.containers[0].ports[1].name"}},

		{"an element without a key moves", tolerating(toleration("a b", ""), toleration("c", "")), tolerating(toleration("c", ""), toleration("a b", "")), nil},
		{"an element without a key that changes is a new one", tolerating(toleration("a b", "")), tolerating(toleration("a b", "v")),
			[]string{"Invalid value: spec.podTemplate.spec.tolerations[0].key"}},
		{"an element without a key is there once more", tolerating(toleration("a b", "")), tolerating(toleration("a b", ""), toleration("a b", "")),
			[]string{"Invalid value: spec.podTemplate.spec.tolerations[1].key"}},

		{"a value of a map stays", selecting(map[string]string{deletionCost: "x"}), selecting(map[string]string{deletionCost: "x", "a": "b"}), nil},
		{"a value of a map changes", selecting(map[string]string{deletionCost: "x"}), selecting(map[string]string{deletionCost: "y"}),
			[]string{"Invalid value: spec.podTemplate.metadata.annotations[" + deletionCost + "]"}},
		{"a list without elements stays", of(), of(), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			errs := corevalidation.ValidatePodTemplateSpec(t.Context(), row.new, path)
			oldErrs := corevalidation.ValidatePodTemplateSpec(t.Context(), row.old, path)
			left := Ratchet(path, row.new, row.old, errs, oldErrs)
			if got := typesAndFields(left); !slices.Equal(got, row.want) {
				t.Errorf("got %q\nwant %q\nin full: %v", got, row.want, left.ToAggregate())
			}
		})
	}
}

// A field that did not change can still be wrong for the first time.
func TestRatchetOfCrossFieldRules(t *testing.T) {
	old := validBox()
	old.ResourceVersion = "1"
	nodePort(30010)(old)
	box := old.DeepCopy()
	box.Spec.ServiceType = model.ServiceTypeClusterIP
	want := []string{"Forbidden: spec.ports[0].nodePort"}
	if got := typesAndFields(validateUpdate(t.Context(), box, old)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A box that was accepted with more errors than are found can be repaired one by one.
func TestRatchetOfMoreErrorsThanAreFound(t *testing.T) {
	withVariables := func(first, count int) *model.ModelBox {
		box := validBox()
		box.ResourceVersion = "1"
		for i := first; i < first+count; i++ {
			box.Spec.Envs = append(box.Spec.Envs, corev1.EnvVar{Name: fmt.Sprintf("A=%d", i)})
		}
		return box
	}
	const all = 2 * validate.MaxErrors
	for _, row := range []struct {
		name string
		box  *model.ModelBox
		want []string
	}{
		{"the first ones are repaired", withVariables(validate.MaxErrors, validate.MaxErrors), nil},
		{"nothing is", withVariables(0, all), nil},
		{"another one comes", withVariables(all, 1), []string{"Invalid value: spec.envs[0].name"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := typesAndFields(validateUpdate(t.Context(), row.box, withVariables(0, all)))
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
