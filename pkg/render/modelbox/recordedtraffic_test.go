// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestSetRecordedTraffic(t *testing.T) {
	var (
		now         = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
		toStable    = map[string]string{modelv1.SelectorLabel: "web", appsv1.DefaultDeploymentUniqueLabelKey: "5d8f7c9b6"}
		toCandidate = map[string]string{modelv1.SelectorLabel: "web", modelv1.CandidateLabel: "true"}
		toAll       = map[string]string{modelv1.SelectorLabel: "web"}
		isWithdrawn = func(box *modelv1.ModelBox) { box.Status.Rollout.Step = nil }
		stable      = &modelv1.ModelBoxRolloutTraffic{Service: modelv1.TrafficToStable, StableHash: "5d8f7c9b6"}
		candidate   = &modelv1.ModelBoxRolloutTraffic{Service: modelv1.TrafficToCandidate}
	)
	for _, row := range []struct {
		name     string
		selector map[string]string
		change   func(*modelv1.ModelBox)
		// hasStablePods says that the Deployment has the stable pods.
		hasStablePods bool
		traffic       *modelv1.ModelBoxRolloutTraffic
		nextStepAt    *metav1.Time
	}{
		{name: "to the stable pods", selector: toStable, hasStablePods: true, traffic: stable},
		{name: "to the stable pods, with the former candidate", selector: toStable, change: isWithdrawn, hasStablePods: true, traffic: stable},
		{name: "to all pods", selector: toAll, hasStablePods: true},
		{name: "to the candidate of a former revision", selector: toCandidate, hasStablePods: true},
		{name: "to the candidate after the steps", selector: toCandidate, change: inStep(3), hasStablePods: true, traffic: candidate, nextStepAt: &metav1.Time{Time: now}},
		{name: "to the candidate while the Deployment replaces its pods", selector: toCandidate, change: inStep(3), traffic: candidate},
		{name: "to the candidate of a rollout that is rolled back", selector: toCandidate, change: isWithdrawn, hasStablePods: true, traffic: candidate, nextStepAt: &metav1.Time{Time: now}},
	} {
		t.Run(row.name, func(t *testing.T) {
			changes := []func(*modelv1.ModelBox){withRoute, withCandidate(0)}
			if row.change != nil {
				changes = append(changes, row.change)
			}
			box, _ := steppedBox(t, changes...)
			box.UID = "1"
			workload := &appsv1.Deployment{}
			if row.hasStablePods {
				workload.Annotations = map[string]string{modelv1.RolledBackAnnotation: strconv.FormatInt(box.Generation, 10)}
			}
			service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: row.selector}}
			SetRecordedTraffic(box, workload, service, now)
			if traffic := box.Status.Rollout.Traffic; traffic != nil {
				t.Errorf("the traffic is %v for a Service of another owner", traffic)
			}
			service.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(box, Kind)}
			SetRecordedTraffic(box, workload, service, now)
			if diff := cmp.Diff(row.traffic, box.Status.Rollout.Traffic); diff != "" {
				t.Errorf("traffic: -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(row.nextStepAt, box.Status.Rollout.NextStepAt); diff != "" {
				t.Errorf("next step at: -want +got:\n%s", diff)
			}
		})
	}
}

func TestHasRecordedTraffic(t *testing.T) {
	for _, row := range []struct {
		name    string
		changes []func(*modelv1.ModelBox)
		want    bool
	}{
		{"a canary with a route", []func(*modelv1.ModelBox){withRoute, withCandidate(0)}, true},
		{"a canary without a route", []func(*modelv1.ModelBox){withCandidate(0)}, false},
		{"a canary without a candidate", []func(*modelv1.ModelBox){withRoute}, false},
		{"no rollout", []func(*modelv1.ModelBox){withRoute, func(box *modelv1.ModelBox) { box.Status.Rollout = nil }}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if box, _ := steppedBox(t, row.changes...); HasRecordedTraffic(box) != row.want {
				t.Errorf("HasRecordedTraffic is %t, want %t", !row.want, row.want)
			}
		})
	}
}
