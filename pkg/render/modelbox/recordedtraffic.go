// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// HasRecordedTraffic returns whether a recorded box, with the status of RecordedRollout, may lead its traffic to some of its pods only.
// The box must be defaulted.
func HasRecordedTraffic(recorded *modelv1.ModelBox) bool {
	rollout := recorded.Status.Rollout
	return rollout != nil && rollout.Candidate != nil && SplitsTraffic(recorded)
}

// SetRecordedTraffic sets the traffic in the status of a recorded box for which HasRecordedTraffic returns true. The live Service of the
// box shows which pods have the traffic. Without this, the Service would lead to all pods until the controller has seen the stable ones,
// and therefore to a candidate that is to have no traffic. The route leads to the candidate again when the controller has seen its pods.
func SetRecordedTraffic(recorded *modelv1.ModelBox, workload metav1.Object, service *corev1.Service, now time.Time) {
	rollout, selector := recorded.Status.Rollout, service.Spec.Selector
	if !metav1.IsControlledBy(service, recorded) {
		return
	}
	if hash := selector[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" {
		rollout.Traffic = &modelv1.ModelBoxRolloutTraffic{Service: modelv1.TrafficToStable, StableHash: hash}
		return
	}
	// Before the steps are over, only the candidate of a former revision has all of the traffic.
	isInSteps := rollout.Step != nil && *rollout.Step <= helper.StepCount(len(recorded.Spec.Rollout.Steps))
	if selector[modelv1.CandidateLabel] == "" || isInSteps {
		return
	}
	rollout.Traffic = &modelv1.ModelBoxRolloutTraffic{Service: modelv1.TrafficToCandidate}
	if isRolledBack(workload, recorded) {
		rollout.NextStepAt = &metav1.Time{Time: now} // for the Deployment to keep the stable pods until the controller has seen the candidate
	}
}
