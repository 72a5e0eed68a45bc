// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// hpaManager is the field manager of the HorizontalPodAutoscaler controller.
const hpaManager = "kube-controller-manager"

const scaleSubresource = "scale"

var replicasPath = fieldpath.MakePathOrDie("spec", "replicas")

// replicasWarnings warns about a change of replicas without an effect, and about two autoscalers that set them.
//
// The managed fields show an autoscaler of the box. An autoscaler of the workload shows only in a number of replicas that is not
// the number of the box. Without a difference, there is no warning.
func replicasWarnings(box, old *model.ModelBox) []string {
	var warnings []string
	if replicasOf(box) != replicasOf(old) && isAutoscaled(old) {
		warnings = append(warnings, "spec.replicas: "+warn.SetByAutoscaler+warn.LeaveOutReplicas)
	}
	return append(warnings, workloadAutoscalerWarnings(box, old)...)
}

// scaleWarnings is replicasWarnings for an update of the scale of a box by a client that is not the autoscaler.
func scaleWarnings(box, old *model.ModelBox) []string {
	if replicasOf(box) == replicasOf(old) || isAutoscaled(box) {
		return nil
	}
	var warnings []string
	if hasAutoscaler(old) && replicasOf(box) > 0 {
		warnings = append(warnings, "spec.replicas: "+warn.SetByAutoscaler)
	}
	return append(warnings, workloadAutoscalerWarnings(box, old)...)
}

// workloadAutoscalerWarnings warns about an autoscaler of the workload. Such an autoscaler has no effect on a box with 0 replicas.
func workloadAutoscalerWarnings(box, old *model.ModelBox) []string {
	if !isWorkloadAutoscaled(old) || replicasOf(box) == 0 {
		return nil
	}
	workload, kind := fmt.Sprintf("%s %s", box.Spec.Workload, box.Name), string(box.Spec.Workload)
	switch {
	case hasAutoscaler(old):
		return []string{"spec.replicas: " + warn.TwoAutoscalers(workload, kind, *old.Status.DesiredReplicas, replicasOf(old))}
	case replicasOf(box) != replicasOf(old):
		return []string{"spec.replicas: " + warn.WorkloadAutoscaled(workload, *old.Status.DesiredReplicas, replicasOf(old))}
	default:
		return nil
	}
}

// hasAutoscaler returns whether spec.autoscaling or another autoscaler scales the box.
func hasAutoscaler(box *model.ModelBox) bool {
	return box.Spec.Autoscaling != nil || isAutoscaled(box)
}

// isAutoscaled returns whether an autoscaler was the last client that set the replicas of the box. In an updated box, the user of
// the request owns the field if the update changes it.
func isAutoscaled(box *model.ModelBox) bool {
	for i := range box.ManagedFields {
		entry := &box.ManagedFields[i]
		if entry.Manager != hpaManager || entry.Subresource != scaleSubresource || entry.FieldsV1 == nil {
			continue
		}
		managed := &fieldpath.Set{}
		if err := managed.FromJSON(entry.FieldsV1.GetRawReader()); err == nil && managed.Has(replicasPath) {
			return true
		}
	}
	return false
}

// isWorkloadAutoscaled returns whether the workload has another number of replicas than the box. Only an autoscaler of the workload
// changes this number. A DaemonSet has no autoscaler.
func isWorkloadAutoscaled(box *model.ModelBox) bool {
	desired := box.Status.DesiredReplicas
	return box.Spec.Workload != model.WorkloadDaemonSet && desired != nil && *desired != replicasOf(box) && isCurrent(box, modelv1.ConditionApplied, modelv1.ReasonApplied)
}

func replicasOf(box *model.ModelBox) int32 {
	return ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas)
}
