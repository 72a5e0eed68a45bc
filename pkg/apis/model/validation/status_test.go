// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestStatusUpdate(t *testing.T) {
	conditions := func(changes ...func(*metav1.Condition)) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			for _, change := range changes {
				ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "RolloutComplete", LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}
				change(&ready)
				box.Status.Conditions = append(box.Status.Conditions, ready)
			}
		}
	}
	same := func(*metav1.Condition) {}
	tests := []row{
		{"an empty status is accepted", func(*model.ModelBox) {}, nil},
		{"counts are accepted", func(box *model.ModelBox) {
			box.Status = model.ModelBoxStatus{ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 1, AvailableReplicas: 1}
		}, nil},
		{"the status of a box with a wrong spec can be written", func(box *model.ModelBox) { box.Spec.Image = "" }, nil},
		{"observedGeneration is not negative", func(box *model.ModelBox) { box.Status.ObservedGeneration = -1 }, []string{"Invalid value: status.observedGeneration"}},
		{"replicas is not negative", func(box *model.ModelBox) { box.Status.Replicas = -1 }, []string{"Invalid value: status.replicas"}},
		{"updatedReplicas is not negative", func(box *model.ModelBox) { box.Status.UpdatedReplicas = -1 }, []string{"Invalid value: status.updatedReplicas"}},
		{"readyReplicas is not negative", func(box *model.ModelBox) { box.Status.ReadyReplicas = -1 }, []string{"Invalid value: status.readyReplicas"}},
		{"desiredReplicas is not negative", func(box *model.ModelBox) { box.Status.DesiredReplicas = ptr.To[int32](-1) }, []string{"Invalid value: status.desiredReplicas"}},
		{"availableReplicas is not negative", func(box *model.ModelBox) { box.Status.AvailableReplicas = -1 }, []string{"Invalid value: status.availableReplicas"}},
		{"podNamesOmitted is not negative", func(box *model.ModelBox) { box.Status.PodNamesOmitted = -1 }, []string{"Invalid value: status.podNamesOmitted"}},
		{"conditions of two types are accepted", conditions(same, func(c *metav1.Condition) { c.Type = "Applied" }), nil},
		{"a condition type is listed once", conditions(same, same), []string{"Duplicate value: status.conditions[1]"}},
		{"a condition has a type", conditions(func(c *metav1.Condition) { c.Type = "" }), []string{"Required value: status.conditions[0].type"}},
		{"a condition type is a qualified name", conditions(func(c *metav1.Condition) { c.Type = "a b" }), []string{"Invalid value: status.conditions[0].type"}},
		{"a condition is True, False or Unknown", conditions(func(c *metav1.Condition) { c.Status = "Yes" }), []string{"Unsupported value: status.conditions[0].status"}},
		{"a condition has a reason", conditions(func(c *metav1.Condition) { c.Reason = "" }), []string{"Required value: status.conditions[0].reason"}},
		{"a reason is one word", conditions(func(c *metav1.Condition) { c.Reason = "rollout complete" }), []string{"Invalid value: status.conditions[0].reason"}},
		{"a condition has a time", conditions(func(c *metav1.Condition) { c.LastTransitionTime = metav1.Time{} }), []string{"Required value: status.conditions[0].lastTransitionTime"}},
		{"the name stays", func(box *model.ModelBox) { box.Name = "other" }, []string{"Invalid value: metadata.name"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old := validBox()
			old.ResourceVersion = "1"
			box := old.DeepCopy()
			test.mutate(box)
			errs := ValidateModelBoxStatusUpdate(t.Context(), box, old)
			if got := typesAndFields(errs); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q: %v", got, test.want, errs.ToAggregate())
			}
		})
	}
}
