// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package openapi_test

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
)

func TestExamplesOfNetworksAreAccepted(t *testing.T) {
	network := &modelv1.Network{ObjectMeta: metav1.ObjectMeta{Name: "lan", Namespace: metav1.NamespaceDefault}}
	for name, property := range schemaOf(reflect.TypeFor[modelv1.NetworkSpec]()).Properties {
		if err := yaml.UnmarshalStrict(example(t, name, property.Description), &network.Spec); err != nil {
			t.Fatal(err)
		}
	}
	internal := &model.Network{}
	if err := scheme.Convert(network, internal, nil); err != nil {
		t.Fatal(err)
	}
	if errs := validation.ValidateNetwork(t.Context(), internal); len(errs) > 0 {
		t.Errorf("the examples are refused: %v", errs.ToAggregate())
	}
}

// The longest that a field may have, as it is published, is the longest that is accepted.
func TestLimitsOfNetworksArePublished(t *testing.T) {
	const cidr, gateway = "1111:2222:3333:4444:5555:6666:7777:8888/127", "1111:2222:3333:4444:5555:6666:7777:8889"
	for name, longest := range map[string]string{"cidr": cidr, "gateway": gateway} {
		got := schemaOf(reflect.TypeFor[modelv1.NetworkSpec]()).Properties[name].MaxLength
		if got == nil || *got != int64(len(longest)) {
			t.Errorf("%s: the published length is not %d", name, len(longest))
		}
	}
	network := &model.Network{
		ObjectMeta: metav1.ObjectMeta{Name: "lan", Namespace: metav1.NamespaceDefault},
		Spec:       model.NetworkSpec{CIDR: cidr, Gateway: gateway, Type: model.NetworkTypeBridge},
	}
	if errs := validation.ValidateNetwork(t.Context(), network); len(errs) > 0 {
		t.Errorf("they are refused: %v", errs.ToAggregate())
	}
}
