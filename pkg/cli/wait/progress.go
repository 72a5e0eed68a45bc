// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// progress is how far a box or a component is.
type progress struct {
	name string
	// done of total pods are what they should be. A total of zero is of what has no pods.
	done, total int32
	isReady     bool
	isStalled   bool
	// reason and message are why it is not ready.
	reason, message string
}

// summaryOf sums up a box or a stack.
func summaryOf(object runtime.Object) cliutil.Summary {
	switch object := object.(type) {
	case *modelv1.ModelBox:
		return cliutil.SummaryOf(object, object.Status.Conditions)
	case *modelv1.ModelStack:
		return cliutil.SummaryOf(object, object.Status.Conditions)
	}
	return cliutil.Summary{}
}

// progressOf returns how far a box is, or each component of a stack.
func progressOf(object runtime.Object) []progress {
	summary := summaryOf(object)
	switch object := object.(type) {
	case *modelv1.ModelBox:
		p := progress{name: object.Name, total: cliutil.DesiredReplicas(object), isReady: summary.IsReady, isStalled: summary.IsStalled}
		p.reason, p.message = summary.Reason, cliutil.OneLine(summary.Message)
		if object.Status.ObservedGeneration == object.Generation {
			p.done = min(object.Status.UpdatedReplicas, object.Status.AvailableReplicas)
		}
		return []progress{p}
	case *modelv1.ModelStack:
		if object.Status.ObservedGeneration < object.Generation {
			return []progress{{name: object.Name, reason: summary.Reason, message: cliutil.OneLine(summary.Message)}}
		}
		var all []progress
		for i := range object.Status.Components {
			all = append(all, componentProgress(object, &object.Status.Components[i]))
		}
		return all
	}
	return nil
}

func componentProgress(stack *modelv1.ModelStack, status *modelv1.ModelStackComponentStatus) progress {
	p := progress{
		name:      stack.Name + "/" + status.Name,
		done:      status.ReadyReplicas,
		isReady:   status.State == modelv1.ComponentReady,
		isStalled: status.State == modelv1.ComponentStalled,
		reason:    status.Reason,
		message:   cliutil.OneLine(status.Message),
	}
	if p.reason == "" {
		p.reason = string(status.State)
	}
	if p.message == "" && len(status.WaitingFor) > 0 {
		p.message = "for " + strings.Join(status.WaitingFor, ", ")
	}
	for i := range stack.Spec.Components {
		component := &stack.Spec.Components[i]
		if component.Name == status.Name && component.Box != nil {
			p.total = ptr.Deref(component.Box.Replicas, modelv1.DefaultReplicas)
			if !component.Box.Workload.HasReplicas() {
				p.total = status.ReadyReplicas // the nodes or the Jobs decide
			}
		}
	}
	return p
}
