// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	repository = "../../.."
	artifacts  = repository + "/artifacts"
)

// health is what a script of Argo CD returns.
type health struct{ Status, Message string }

// examples are objects as the server returns them, and what each program makes of them.
var examples = []struct {
	name   string
	object runtime.Object

	argocd  health
	kstatus kstatus.Status
	// flux is the status by the expressions. It is empty for a kind without expressions.
	flux kstatus.Status
}{
	{
		"a new box",
		box(0, condition(modelv1.ConditionReady, metav1.ConditionUnknown, modelv1.ReasonPending, "not seen")),
		health{"Progressing", "the controller has not seen this object yet"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		// kstatus takes an object without conditions for one that has none. The server creates no such box.
		"a box without a status",
		box(0),
		health{"Progressing", "the controller has not seen this object yet"}, kstatus.CurrentStatus, kstatus.InProgressStatus,
	},
	{
		"a rollout that is running",
		box(2, ready(modelv1.ReasonProgressing, "1 of 2 pods are available"), isTrue(modelv1.ConditionProgressing, modelv1.ReasonProgressing, "")),
		health{"Progressing", "1 of 2 pods are available"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a box that is Ready",
		box(2, isTrue(modelv1.ConditionReady, modelv1.ReasonReady, "2 of 2 pods are available")),
		health{"Healthy", "2 of 2 pods are available"}, kstatus.CurrentStatus, kstatus.CurrentStatus,
	},
	{
		"a box that is stopped",
		box(2, isTrue(modelv1.ConditionReady, modelv1.ReasonStopped, "the box is stopped")),
		health{"Healthy", "the box is stopped"}, kstatus.CurrentStatus, kstatus.CurrentStatus,
	},
	{
		"a box whose pods crash after the rollout",
		box(2, ready("CrashLoopBackOff", "pod web-0 crashes"), condition(modelv1.ConditionAvailable, metav1.ConditionFalse, "MinimumReplicasUnavailable", "")),
		health{"Progressing", "pod web-0 crashes"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a box whose name is taken",
		box(2, ready(modelv1.ReasonNotApplied, "NotOwned: web exists"), stalled(modelv1.ReasonNotOwned, "web exists")),
		health{"Degraded", "web exists"}, kstatus.FailedStatus, kstatus.FailedStatus,
	},
	{
		"a rollout that makes no progress",
		box(2, ready(modelv1.ReasonProgressDeadlineExceeded, "timed out"), stalled(modelv1.ReasonProgressDeadlineExceeded, "timed out")),
		health{"Degraded", "timed out"}, kstatus.FailedStatus, kstatus.FailedStatus,
	},
	{
		"a box that is paused and has changed",
		paused(box(2, ready(modelv1.ReasonPaused, "not up to date: Deployment"))),
		health{"Suspended", "not up to date: Deployment"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a box that is paused and up to date",
		paused(box(2, isTrue(modelv1.ConditionReady, modelv1.ReasonReady, "2 of 2 pods are available"))),
		health{"Healthy", "2 of 2 pods are available"}, kstatus.CurrentStatus, kstatus.CurrentStatus,
	},
	{
		"a failed rollout of a box that is paused",
		paused(box(2, ready(modelv1.ReasonPaused, "not up to date: Service"), stalled(modelv1.ReasonProgressDeadlineExceeded, "timed out"))),
		health{"Degraded", "timed out"}, kstatus.FailedStatus, kstatus.FailedStatus,
	},
	{
		"a Deployment that is paused during the rollout",
		box(2, ready(modelv1.ReasonDeploymentPaused, "paused by kubectl")),
		health{"Suspended", "paused by kubectl"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a StatefulSet with a partition",
		box(2, ready(modelv1.ReasonStatefulSetPartitioned, "partition 1")),
		health{"Suspended", "partition 1"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a box that was Ready until it changed",
		box(1, isTrue(modelv1.ConditionReady, modelv1.ReasonReady, "2 of 2 pods are available")),
		health{"Progressing", "the controller has not seen the last change yet"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a box that was stalled until it changed",
		box(1, ready(modelv1.ReasonNotApplied, "web exists"), stalled(modelv1.ReasonNotOwned, "web exists")),
		health{"Progressing", "the controller has not seen the last change yet"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a box that is being deleted",
		deleted(box(2, isTrue(modelv1.ConditionReady, modelv1.ReasonReady, "2 of 2 pods are available"))),
		health{"Progressing", "the object is being deleted"}, kstatus.TerminatingStatus, kstatus.InProgressStatus,
	},
	{
		"a stack with a component that waits",
		stack(2, ready(modelv1.ReasonProgressing, "1 of 2 components are ready"), condition(modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonWaiting, "held back: web")),
		health{"Progressing", "1 of 2 components are ready"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a stack that is Ready",
		stack(2, isTrue(modelv1.ConditionReady, modelv1.ReasonReady, "2 of 2 components are ready")),
		health{"Healthy", "2 of 2 components are ready"}, kstatus.CurrentStatus, kstatus.CurrentStatus,
	},
	{
		"a stack with a component that is stalled",
		stack(2, ready(modelv1.ReasonComponentStalled, "db: NotOwned"), stalled(modelv1.ReasonComponentStalled, "db: NotOwned")),
		health{"Degraded", "db: NotOwned"}, kstatus.FailedStatus, kstatus.FailedStatus,
	},
	{
		"a stack that is paused and has changed",
		stack(2, ready(modelv1.ReasonPaused, "not up to date: 1 of its children")),
		health{"Suspended", "not up to date: 1 of its children"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a stack that was Ready until it changed",
		stack(1, isTrue(modelv1.ConditionReady, modelv1.ReasonReady, "2 of 2 components are ready")),
		health{"Progressing", "the controller has not seen the last change yet"}, kstatus.InProgressStatus, kstatus.InProgressStatus,
	},
	{
		"a Network that is Ready",
		network(isTrue(modelv1.ConditionReady, modelv1.ReasonReady, "pods can be attached")),
		health{"Healthy", "pods can be attached"}, kstatus.CurrentStatus, "",
	},
	{
		"a Network whose kind of child is not served",
		network(ready(modelv1.ReasonNotServed, "no kind"), condition(modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonNotServed, "no kind")),
		health{"Degraded", "no kind"}, kstatus.InProgressStatus, "",
	},
	{
		"a Network whose child could not be written for now",
		network(ready(modelv1.ReasonError, "timeout"), condition(modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonError, "timeout")),
		health{"Progressing", "timeout"}, kstatus.InProgressStatus, "",
	},
	{
		"a PodDebugger that has expired",
		podDebugger(isTrue(modelv1.ConditionReady, modelv1.ReasonExpired, "the container is in 1 pod")),
		health{"Healthy", "the container is in 1 pod"}, kstatus.CurrentStatus, "",
	},
	{
		"a PodDebugger that Pod Security refuses",
		podDebugger(ready(modelv1.ReasonForbidden, "violates"), condition(modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonForbidden, "violates")),
		health{"Degraded", "violates"}, kstatus.InProgressStatus, "",
	},
}

func TestKStatusOfExamples(t *testing.T) {
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			result, err := kstatus.Compute(toUnstructured(t, example.object))
			if err != nil {
				t.Fatal(err)
			}
			if result.Status != example.kstatus {
				t.Errorf("want %s, got %s: %s", example.kstatus, result.Status, result.Message)
			}
		})
	}
}

// box returns one of generation 2.
func box(observedGeneration int64, conditions ...metav1.Condition) *modelv1.ModelBox {
	return &modelv1.ModelBox{
		TypeMeta:   metav1.TypeMeta{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "ModelBox"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2},
		Spec:       modelv1.ModelBoxSpec{Image: "registry.example.com/web:1", ResourceType: modelv1.ResourceTypeSmall},
		Status:     modelv1.ModelBoxStatus{ObservedGeneration: observedGeneration, Conditions: conditions},
	}
}

// stack returns one of generation 2.
func stack(observedGeneration int64, conditions ...metav1.Condition) *modelv1.ModelStack {
	return &modelv1.ModelStack{
		TypeMeta:   metav1.TypeMeta{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "ModelStack"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop", Generation: 2},
		Spec: modelv1.ModelStackSpec{Components: []modelv1.ModelStackComponent{
			{Name: "db", Box: &modelv1.ModelBoxSpec{Image: "registry.example.com/db:1", ResourceType: modelv1.ResourceTypeSmall}},
			{Name: "mail", External: &modelv1.ModelStackExternal{Host: "mail.example.com"}},
		}},
		Status: modelv1.ModelStackStatus{ObservedGeneration: observedGeneration, Conditions: conditions},
	}
}

func network(conditions ...metav1.Condition) *modelv1.Network {
	return &modelv1.Network{
		TypeMeta:   metav1.TypeMeta{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "Network"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "lan", Generation: 1},
		Status:     modelv1.NetworkStatus{ObservedGeneration: 1, Conditions: conditions},
	}
}

func podDebugger(conditions ...metav1.Condition) *modelv1.PodDebugger {
	return &modelv1.PodDebugger{
		TypeMeta:   metav1.TypeMeta{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "PodDebugger"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "tools", Generation: 1},
		Status:     modelv1.PodDebuggerStatus{ObservedGeneration: 1, Conditions: conditions},
	}
}

func paused(box *modelv1.ModelBox) *modelv1.ModelBox {
	box.Spec.Paused = true
	return box
}

func deleted(box *modelv1.ModelBox) *modelv1.ModelBox {
	box.DeletionTimestamp = new(metav1.Unix(0, 0))
	return box
}

func condition(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
}

// ready is a condition Ready that is False.
func ready(reason, message string) metav1.Condition {
	return condition(modelv1.ConditionReady, metav1.ConditionFalse, reason, message)
}

func stalled(reason, message string) metav1.Condition {
	return isTrue(modelv1.ConditionStalled, reason, message)
}

func isTrue(conditionType, reason, message string) metav1.Condition {
	return condition(conditionType, metav1.ConditionTrue, reason, message)
}

func toUnstructured(t *testing.T, object runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
