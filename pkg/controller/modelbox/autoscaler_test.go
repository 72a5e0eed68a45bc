// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// autoscaled gives the box an autoscaler.
func autoscaled(box *modelv1.ModelBox) {
	box.Spec.Autoscaling = &modelv1.ModelBoxAutoscaling{MaxReplicas: 5, CPU: ptr.To[int32](70)}
}

func (f *testController) autoscaler(t *testing.T) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	autoscaler, err := f.cluster.AutoscalingV2().HorizontalPodAutoscalers(fixture.WebKey.Namespace).Get(t.Context(), fixture.WebKey.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return autoscaler
}

func TestReconcileWritesTheAutoscalerOnce(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, autoscaled))
	f.converge(t)
	f.restart()
	f.mustReconcile(t)
	check(t, "requests", []string(nil), f.requests())
	check(t, "target", autoscalingv2.CrossVersionObjectReference{APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: "web"}, f.autoscaler(t).Spec.ScaleTargetRef)
}

func TestReconcileRestoresTheAutoscaler(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, autoscaled))
	f.converge(t)
	changed := f.autoscaler(t)
	changed.Spec.MaxReplicas = 9
	if _, err := f.cluster.AutoscalingV2().HorizontalPodAutoscalers(changed.Namespace).Update(t.Context(), changed, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "largest number of pods", int32(5), f.autoscaler(t).Spec.MaxReplicas)
	check(t, "events", []string{"Warning RestoredHorizontalPodAutoscaler Restored HorizontalPodAutoscaler web: kubectl-edit had changed spec.maxReplicas"}, f.told())
}

func TestReconcilePrunesTheAutoscaler(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, autoscaled))
	f.converge(t)
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Autoscaling = nil })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "events", []string{"Normal PrunedHorizontalPodAutoscaler Deleted HorizontalPodAutoscaler web, which the box no longer specifies"}, f.told())
}

// The autoscaler of the box scales the box, and the Deployment has the number of pods of the box. No other client decides it.
func TestOwnAutoscalerLeavesTheDeploymentToTheBox(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, autoscaled))
	f.converge(t)
	f.cache(t, autoscalerOf("model.github.com/v1", "ModelBox"))
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](4) })
	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "replicas of the Deployment", ptr.To[int32](4), f.deployment(t).Spec.Replicas)
	check(t, "annotation", "", f.deployment(t).Annotations[modelv1.AutoscaledAnnotation])
}

func TestBoxWithoutPodsSaysWhy(t *testing.T) {
	scaledToZero := func(status corev1.ConditionStatus, others ...autoscalingv2.HorizontalPodAutoscalerCondition) *autoscalingv2.HorizontalPodAutoscaler {
		return &autoscalingv2.HorizontalPodAutoscaler{Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			Conditions: append(others, autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScaledToZero, Status: status})}}
	}
	withoutMetrics := autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "FailedGetExternalMetric", Message: "not found"}
	const isStopped, isScaled = "the box is stopped: it asks for 0 replicas", "the autoscaler has scaled the box to 0 pods"
	for _, row := range []struct {
		name            string
		autoscaler      *autoscalingv2.HorizontalPodAutoscaler
		reason, message string
	}{
		{"a box without an autoscaler", nil, modelv1.ReasonStopped, isStopped},
		{"a user has stopped the box", scaledToZero(corev1.ConditionFalse), modelv1.ReasonStopped, isStopped},
		{"the autoscaler has removed the pods", scaledToZero(corev1.ConditionTrue), modelv1.ReasonScaledToZero, isScaled},
		{"the autoscaler cannot start pods", scaledToZero(corev1.ConditionTrue, withoutMetrics), modelv1.ReasonScaledToZero, isScaled + "; not autoscaled: FailedGetExternalMetric: not found"},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := fixture.WebBox(t, autoscaled, func(box *modelv1.ModelBox) { box.Spec.Replicas = ptr.To[int32](0) })
			deployment := completeDeployment()
			deployment.Spec.Replicas, deployment.Status.Replicas = ptr.To[int32](0), 0
			deployment.Status.UpdatedReplicas, deployment.Status.AvailableReplicas, deployment.Status.ReadyReplicas = 0, 0, 0
			ready := meta.FindStatusCondition(status.ConditionsOf(box, &status.Observation{Workload: workloadOf(deployment), Autoscaler: row.autoscaler}), modelv1.ConditionReady)
			check(t, "status", metav1.ConditionTrue, ready.Status)
			check(t, "reason and message", row.reason+": "+row.message, ready.Reason+": "+ready.Message)
		})
	}
}

func TestReadyBoxSaysThatItIsNotAutoscaled(t *testing.T) {
	condition := func(conditionType autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus, reason, message string) autoscalingv2.HorizontalPodAutoscalerCondition {
		return autoscalingv2.HorizontalPodAutoscalerCondition{Type: conditionType, Status: status, Reason: reason, Message: message}
	}
	isAble := condition(autoscalingv2.AbleToScale, corev1.ConditionTrue, "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	for _, row := range []struct {
		name       string
		conditions []autoscalingv2.HorizontalPodAutoscalerCondition
		want       string
	}{
		{"an autoscaler that has not reported", nil, ""},
		{"an autoscaler that works", []autoscalingv2.HorizontalPodAutoscalerCondition{isAble, condition(autoscalingv2.ScalingActive, corev1.ConditionTrue, "ValidMetricFound", "")}, ""},
		{"an autoscaler at its limit", []autoscalingv2.HorizontalPodAutoscalerCondition{isAble, condition(autoscalingv2.ScalingLimited, corev1.ConditionFalse, "DesiredWithinRange", "")}, ""},
		{"an autoscaler of what is stopped", []autoscalingv2.HorizontalPodAutoscalerCondition{isAble, condition(autoscalingv2.ScalingActive, corev1.ConditionFalse, "ScalingDisabled", "zero")}, ""},
		{"an autoscaler without metrics", []autoscalingv2.HorizontalPodAutoscalerCondition{isAble, condition(autoscalingv2.ScalingActive, corev1.ConditionFalse, "FailedGetResourceMetric", "no metrics returned")},
			"; not autoscaled: FailedGetResourceMetric: no metrics returned"},
		{"an autoscaler that cannot scale", []autoscalingv2.HorizontalPodAutoscalerCondition{condition(autoscalingv2.AbleToScale, corev1.ConditionFalse, "FailedGetScale", "not found")},
			"; not autoscaled: FailedGetScale: not found"},
	} {
		t.Run(row.name, func(t *testing.T) {
			autoscaler := &autoscalingv2.HorizontalPodAutoscaler{Status: autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: row.conditions}}
			observed := &status.Observation{Workload: workloadOf(completeDeployment()), Autoscaler: autoscaler}
			ready := meta.FindStatusCondition(status.ConditionsOf(fixture.WebBox(t, autoscaled), observed), modelv1.ConditionReady)
			check(t, "status", metav1.ConditionTrue, ready.Status)
			check(t, "message", "2 of 2 replicas are available"+row.want, ready.Message)
		})
	}
}
