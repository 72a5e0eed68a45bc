// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

func TestServiceWarnings(t *testing.T) {
	type change = func(*model.ModelBox)
	serviceType := func(serviceType model.ServiceType) change {
		return func(box *model.ModelBox) { box.Spec.ServiceType = serviceType }
	}
	noPorts := func(box *model.ModelBox) { box.Spec.Ports, box.Spec.ServiceType = nil, "" }
	stopped := func(box *model.ModelBox) { box.Status.Replicas = 0 } // of whose pods there is nothing to say
	paused := func(box *model.ModelBox) { box.Spec.Paused = true }

	for _, row := range []struct {
		name     string
		old, new []change
		want     []string
	}{
		{"a Service that becomes headless is replaced", nil, []change{serviceType("Headless")},
			[]string{"spec.serviceType: " + warn.ServiceBecomesHeadless("Service web is", "")}},
		{"a Service with node ports that becomes headless is replaced", []change{serviceType("NodePort")}, []change{serviceType("Headless")},
			[]string{"spec.serviceType: " + warn.ServiceBecomesHeadless("Service web is", "")}},
		{"a headless Service that gets an address is replaced", []change{serviceType("Headless")}, []change{serviceType("")},
			[]string{"spec.serviceType: " + warn.ServiceGetsClusterIP("Service web is", "")}},
		{"a headless Service that gets a node port is replaced", []change{serviceType("Headless")}, []change{serviceType(""), nodePortOf("TCP", 30010)},
			[]string{"spec.serviceType: " + warn.ServiceGetsClusterIP("Service web is", "")}},
		{"a Service that is replaced after a pause", nil, []change{serviceType("Headless"), paused},
			[]string{"spec.serviceType: " + warn.ServiceBecomesHeadless("Service web will be", " when the box is unpaused")}},
		{"a Service that gets another type stays", nil, []change{serviceType("LoadBalancer")}, nil},
		{"a Service whose type is said stays", nil, []change{serviceType("ClusterIP")}, nil},
		{"a Service without ports is deleted", nil, []change{noPorts}, []string{"spec.ports: " + warn.ServiceDeleted("Service web is", "", "")}},
		{"a headless Service without ports is deleted", []change{serviceType("Headless")}, []change{noPorts},
			[]string{"spec.ports: " + warn.ServiceDeleted("Service web is", "", "")}},
		{"a Service without ports is deleted after a pause", nil, []change{noPorts, paused},
			[]string{"spec.ports: " + warn.ServiceDeleted("Service web will be", " when the box is unpaused", "")}},
		{"the Services of a StatefulSet without ports are deleted", []change{statefulSet}, []change{noPorts},
			[]string{"spec.ports: " + warn.ServiceDeleted("Service web is", "", warn.PodsLoseNames)}},
		{"the Services of a StatefulSet without ports are deleted after a pause", []change{statefulSet}, []change{noPorts, paused},
			[]string{"spec.ports: " + warn.ServiceDeleted("Service web will be", " when the box is unpaused", warn.PodsLoseNames)}},
		{"no Service is not deleted", []change{noPorts}, []change{paused}, nil},
		{"a Service that is made replaces none", []change{noPorts}, []change{func(box *model.ModelBox) { box.Spec.Ports = webBox().Spec.Ports }, serviceType("Headless")}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(append(row.old, stopped)...)
			box := old.DeepCopy()
			for _, change := range row.new {
				change(box)
			}
			got := newStrategy(old).WarningsOnUpdate(t.Context(), box, old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
