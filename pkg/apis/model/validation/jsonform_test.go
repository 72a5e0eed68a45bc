// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestJSONForm(t *testing.T) {
	impossible := intstr.IntOrString{Type: 51, IntVal: 8080, StrVal: "metrics"}
	rows := []row{
		{"a rolling update of a third type", func(box *model.ModelBox) {
			box.Spec.RollingUpdate = &model.RollingUpdate{Type: 51, StrVal: "30%"}
		}, []string{"Invalid value: spec.rollingUpdate"}},
		{"a limit of a rolling update of a third type", func(box *model.ModelBox) {
			box.Spec.RollingUpdate = &model.RollingUpdate{Type: model.RollingUpdateObject, MaxSurge: &impossible, MaxUnavailable: ptr.To(intstr.FromInt32(0))}
		}, []string{"Invalid value: spec.rollingUpdate.maxSurge"}},
		{"a limit of a disruption budget of a third type", func(box *model.ModelBox) {
			box.Spec.DisruptionBudget = &model.ModelBoxDisruptionBudget{MaxUnavailable: &impossible}
		}, []string{"Invalid value: spec.disruptionBudget.maxUnavailable"}},
		{"a port of a probe of a third type", container(func(container *corev1.Container) {
			container.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: impossible}}}
		}), []string{"Invalid value: spec.containers[0].livenessProbe.tcpSocket.port"}},
	}
	check(t, rows)
	for _, row := range rows {
		t.Run(row.name+" in an update", func(t *testing.T) {
			old, box := validBox(), validBox()
			row.mutate(box)
			errs := ValidateModelBoxSpecUpdate(t.Context(), box, old, field.NewPath("spec"))
			if got := typesAndFields(errs); !slices.Equal(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
