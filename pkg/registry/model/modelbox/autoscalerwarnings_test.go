// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// The changes that an autoscaler makes of the box that it scales, of two replicas, and of one whose workload it scales.
func autoscaled(box *model.ModelBox) {
	box.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
	}}
}

func workloadAutoscaled(box *model.ModelBox) { box.Status.DesiredReplicas = ptr.To[int32](5) }

// scaled sets the replicas as a client that is not an autoscaler.
func scaled(replicas int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Replicas, box.ManagedFields = ptr.To(replicas), nil }
}

var (
	bothAutoscaled = "spec.replicas: " + warn.TwoAutoscalers("Deployment web", "Deployment", 5, 2)
	doesNotCount   = "spec.replicas: " + warn.WorkloadAutoscaled("Deployment web", 5, 2)
)

func TestReplicasWarnings(t *testing.T) {
	type change = func(*model.ModelBox)
	pause := func(box *model.ModelBox) { box.Spec.Paused = true }
	unseen := func(box *model.ModelBox) { box.Generation++ }
	for _, row := range []struct {
		name string
		old  []change
		new  change
		want []string
	}{
		{"replicas that no other client sets", nil, scaled(3), nil},
		{"replicas that an autoscaler sets", []change{autoscaled}, scaled(3),
			[]string{"spec.replicas: " + warn.SetByAutoscaler + warn.LeaveOutReplicas}},
		{"replicas that an autoscaler sets stay", []change{autoscaled}, pause, nil},
		{"replicas that an autoscaler of the Deployment overrules", []change{workloadAutoscaled}, scaled(3), []string{doesNotCount}},
		{"replicas that an autoscaler of the Deployment overrules stay", []change{workloadAutoscaled}, pause, nil},
		{"an autoscaler of the Deployment does not overrule none", []change{workloadAutoscaled}, scaled(0), nil},
		{"a Deployment that has not been scaled yet is not autoscaled", []change{workloadAutoscaled, unseen}, scaled(3), nil},
		{"autoscalers of both", []change{autoscaled, workloadAutoscaled}, pause, []string{bothAutoscaled}},
		{"replicas that an autoscaler of the StatefulSet overrules", []change{statefulSet, workloadAutoscaled}, scaled(3),
			[]string{"spec.replicas: " + warn.WorkloadAutoscaled("StatefulSet web", 5, 2)}},
		{"autoscalers of a StatefulSet and its box", []change{statefulSet, autoscaled, workloadAutoscaled}, pause,
			[]string{"spec.replicas: " + warn.TwoAutoscalers("StatefulSet web", "StatefulSet", 5, 2)}},
		{"a DaemonSet on more nodes than one is not autoscaled", []change{daemonSet, workloadAutoscaled}, pause, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(row.old...)
			box := old.DeepCopy()
			row.new(box)
			got := newStrategy(old).WarningsOnUpdate(t.Context(), box, old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestScaleWarnings(t *testing.T) {
	type change = func(*model.ModelBox)
	scaledByAutoscaler := func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](3) }
	for _, row := range []struct {
		name string
		old  []change
		new  change
		want []string
	}{
		{"no other client scales", nil, scaled(3), nil},
		{"an autoscaler scales as well", []change{autoscaled}, scaled(3), []string{"spec.replicas: " + warn.SetByAutoscaler}},
		{"the autoscaler itself scales", []change{autoscaled}, scaledByAutoscaler, nil},
		{"an autoscaler scales the Deployment", []change{workloadAutoscaled}, scaled(3), []string{doesNotCount}},
		{"an autoscaler scales the Deployment, and the box is stopped", []change{workloadAutoscaled}, scaled(0), nil},
		{"an autoscaler scales the Deployment, and the number stays", []change{workloadAutoscaled}, scaled(2), nil},
		{"autoscalers scale both", []change{autoscaled, workloadAutoscaled}, scaled(3),
			[]string{"spec.replicas: " + warn.SetByAutoscaler, bothAutoscaled}},
	} {
		t.Run(row.name, func(t *testing.T) {
			old := webBox(row.old...)
			box := old.DeepCopy()
			row.new(box)
			got := NewScaleStrategy(newStrategy(old)).WarningsOnUpdate(t.Context(), box, old)
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
