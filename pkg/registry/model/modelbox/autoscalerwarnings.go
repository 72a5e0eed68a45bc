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

// replicasWarnings says that an update of the box changes replicas in vain, or that two autoscalers decide on them.
//
// Of an autoscaler of the box it is known what it last set. Of one of the workload it is known that the pods are not as
// many as the box says: while it wants that very number, it cannot be seen from here.
func replicasWarnings(box, old *model.ModelBox) []string {
	var warnings []string
	if replicasOf(box) != replicasOf(old) && isAutoscaled(old) {
		warnings = append(warnings, "spec.replicas: "+warn.SetByAutoscaler+warn.LeaveOutReplicas)
	}
	return append(warnings, workloadAutoscalerWarnings(box, old)...)
}

// scaleWarnings is replicasWarnings for who changes the scale of a box, unless that is the autoscaler.
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

// workloadAutoscalerWarnings is about an autoscaler of the workload. It does not keep a box from being stopped.
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

// hasAutoscaler returns whether an autoscaler scales the box, its own or another one. While the box is stopped, it does not.
func hasAutoscaler(box *model.ModelBox) bool {
	return box.Spec.Autoscaling != nil || isAutoscaled(box)
}

// isAutoscaled returns whether an autoscaler of the box was the last to set its replicas. The user who changes them
// has taken the field over when the new box is looked at.
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

// isWorkloadAutoscaled returns whether the workload has another number of replicas than the box that it is a child of,
// which only an autoscaler of the workload makes of it. A DaemonSet has as many as there are nodes, and no autoscaler.
func isWorkloadAutoscaled(box *model.ModelBox) bool {
	desired := box.Status.DesiredReplicas
	return box.Spec.Workload != model.WorkloadDaemonSet && desired != nil && *desired != replicasOf(box) && isCurrent(box, modelv1.ConditionApplied, modelv1.ReasonApplied)
}

func replicasOf(box *model.ModelBox) int32 {
	return ptr.Deref(box.Spec.Replicas, modelv1.DefaultReplicas)
}
