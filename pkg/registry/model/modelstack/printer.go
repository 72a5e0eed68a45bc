// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/printers"
)

// columns are the columns of "kubectl get" for stacks. Columns with priority 1 are shown only with "-o wide".
var columns = []metav1.TableColumnDefinition{
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the stack."},
	{Name: "Ready", Type: "string", Description: "Number of ready components, and of all components of the stack."},
	{Name: "Status", Type: "string", Description: "Ready, or the reason why not."},
	{Name: "Waiting For", Type: "string", Description: "Components that other components wait for."},
	{Name: "Age", Type: "string", Description: "Time since the stack was created."},
	{Name: "Message", Type: "string", Priority: 1, Description: "Message of the Ready condition, or what the deletion of the stack waits for."},
}

// TableConvertor prints ModelStacks and lists of them.
var TableConvertor = printers.TableConvertor[*model.ModelStack]{Columns: columns, Cells: cells}

func cells(stack *model.ModelStack) []any {
	status, message := summary(stack)
	return []any{
		stack.Name,
		fmt.Sprintf("%d/%d", stack.Status.ReadyComponents, len(stack.Spec.Components)),
		status,
		printers.Cell(printers.OrNone(stack.Status.WaitingFor)),
		printers.Age(stack),
		printers.Cell(printers.OrNone(message)),
	}
}

// finalizers says what the finalizers of stacks wait for.
var finalizers = map[string]string{modelv1.OrderedDeletionFinalizer: "its components to be deleted in order"}

// summary is the one word, and the one line, that say how the stack is doing. A status of an older generation says nothing
// about this one.
func summary(stack *model.ModelStack) (status, message string) {
	ready := meta.FindStatusCondition(stack.Status.Conditions, modelv1.ConditionReady)
	switch {
	case stack.DeletionTimestamp != nil:
		return "Terminating", printers.Terminating(stack, "stack", finalizers)
	case ready == nil:
		return modelv1.ReasonPending, printers.NotSeen("stack")
	case ready.Status != metav1.ConditionUnknown && ready.ObservedGeneration < stack.Generation:
		return modelv1.ReasonPending, printers.ChangeNotSeen
	default:
		return ready.Reason, ready.Message
	}
}
