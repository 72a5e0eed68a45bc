// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/printers"
)

// columns are the columns of "kubectl get" for PodDebuggers. Columns with priority 1 are shown only with "-o wide".
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the PodDebugger."},
	{Name: "Selector", Type: "string", Description: "Labels by which pods are selected."},
	{Name: "Image", Type: "string", Description: "Image of the container."},
	{Name: "Pods", Type: "string", Description: "Number of pods whose container is running, and of all pods that have the container."},
	{Name: "Status", Type: "string", Description: "Ready, or the reason why not."},
	{Name: "Age", Type: "string", Description: "Time since the PodDebugger was created."},
	{Name: "Container", Type: "string", Priority: 1, Description: "Name of the container in every pod."},
	{Name: "Profile", Type: "string", Priority: 1, Description: "What the container may do."},
	{Name: "Selected", Type: "integer", Priority: 1, Description: "Number of pods that the selector selects."},
	{Name: "Refused", Type: "integer", Priority: 1, Description: "Number of pods for which the cluster refused the container."},
	{Name: "Message", Type: "string", Description: "Message of the Ready condition, or what the deletion of the PodDebugger waits for."},
}

// TableConvertor prints PodDebuggers and lists of them.
var TableConvertor = printers.TableConvertor[*model.PodDebugger]{Columns: columns, Cells: cells}

func cells(debugger *model.PodDebugger) []any {
	status, message := summary(debugger)
	return []any{
		debugger.Name,
		printers.Cell(metav1.FormatLabelSelector(&debugger.Spec.Selector)),
		debugger.Spec.Image,
		fmt.Sprintf("%d/%d", debugger.Status.RunningPods, debugger.Status.DebuggedPods),
		status,
		printers.Age(debugger),
		printers.OrNone(debugger.Status.ContainerName),
		string(debugger.Spec.Profile),
		int64(debugger.Status.SelectedPods),
		int64(debugger.Status.RefusedPods),
		printers.Cell(printers.OrNone(message)),
	}
}

// summary is the one word, and the one line, that say how the PodDebugger is doing. A status of an older generation says nothing
// about this one.
func summary(debugger *model.PodDebugger) (status, message string) {
	ready := meta.FindStatusCondition(debugger.Status.Conditions, modelv1.ConditionReady)
	switch {
	case debugger.DeletionTimestamp != nil:
		return "Terminating", printers.Terminating(debugger, "PodDebugger", map[string]string{
			modelv1.PodDebuggerRestartFinalizer: "the boxes to be restarted whose pods have the container",
		})
	case ready == nil || ready.ObservedGeneration != debugger.Generation:
		return modelv1.ReasonPending, printers.NotSeen("PodDebugger")
	default:
		return ready.Reason, ready.Message
	}
}
