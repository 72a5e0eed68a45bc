// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package helper

import (
	"time"

	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// CandidateNameSuffix follows the name of a box in the name of its candidate Deployment and of the Service of that.
const CandidateNameSuffix = "-canary"

// CandidateName returns the name of the candidate Deployment of the box of the name, and of its Service.
func CandidateName(box string) string { return box + CandidateNameSuffix }

// DefaultProgressDeadline is the progress deadline of a box without one.
const DefaultProgressDeadline = time.Duration(modelv1.DefaultProgressDeadlineSeconds) * time.Second

// ProgressDeadline returns how long a rollout of the box may make no progress.
func ProgressDeadline(box *modelv1.ModelBox) time.Duration {
	return time.Duration(ptr.Deref(box.Spec.ProgressDeadlineSeconds, modelv1.DefaultProgressDeadlineSeconds)) * time.Second
}

// StepCount returns the number of steps of a rollout with that many in its spec. One of the type BlueGreen without any has one.
func StepCount(steps int) int32 { return max(1, int32(steps)) }

// CanaryReplicas returns how many pods of the new revision a step with the weight, in percent, has for a box with that number of
// pods. If a route leads exact shares of the traffic to both revisions, the pods are enough for their share, and the stable pods all
// stay. Otherwise, the pods are their share as near as possible, and each revision has at least one pod, except at 100 %.
func CanaryReplicas(weight, replicas int32, isRouted bool) int32 {
	switch {
	case replicas <= 0 || weight <= 0:
		return 0
	case weight >= 100:
		return replicas
	case isRouted:
		return int32((int64(replicas)*int64(weight) + 99) / 100)
	}
	nearest := int32((int64(replicas)*int64(weight) + 50) / 100)
	return max(1, min(nearest, replicas-1))
}

// StableReplicas returns how many stable pods there are beside that number of available pods of the new revision, in a step with the
// weight of a box with that number of pods that no route leads shares of the traffic to.
func StableReplicas(weight, replicas, available int32) int32 {
	stable := replicas - min(CanaryReplicas(weight, replicas, false), available)
	if weight < 100 {
		return max(1, stable)
	}
	return stable
}

// SharePercent returns the share of a part in the whole, in percent, rounded; 0 of nothing.
func SharePercent(part, whole int32) int32 {
	if whole <= 0 {
		return 0
	}
	return int32((int64(part)*100 + int64(whole)/2) / int64(whole))
}

// IsCheckMet returns whether the check with these results has had its successes, and the last measurement is one of them. Otherwise, a
// rollout would continue without an answer of Prometheus.
func IsCheckMet(check *modelv1.ModelBoxRolloutCheck, results *modelv1.ModelBoxRolloutCheckStatus) bool {
	return results.Message == "" && results.Successes >= ptr.Deref(check.Count, 1)
}
