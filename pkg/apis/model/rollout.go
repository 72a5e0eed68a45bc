// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RolloutFailurePolicy says what becomes of a rollout that has failed.
type RolloutFailurePolicy string

const (
	// RolloutFailureNone leaves it as it is.
	RolloutFailureNone RolloutFailurePolicy = "None"
	// RolloutFailurePause lets no further pod get the new revision.
	RolloutFailurePause RolloutFailurePolicy = "Pause"
	// RolloutFailureRollback gives the pods the last revision back that was complete.
	RolloutFailureRollback RolloutFailurePolicy = "Rollback"
)

// ModelBoxRollout is when a rollout has failed, and what follows.
type ModelBoxRollout struct {
	OnFailure   RolloutFailurePolicy
	MaxRestarts *int32
	Type        *RolloutType
	Steps       []ModelBoxRolloutStep
	Checks      []ModelBoxRolloutCheck
}

// RolloutType is how a rollout brings a new revision to the pods.
type RolloutType string

const (
	// RolloutCanary gives the new revision a share of the traffic, step by step.
	RolloutCanary RolloutType = "Canary"
	// RolloutBlueGreen starts all pods of the new revision beside the stable pods, and then sends all traffic to them at once.
	RolloutBlueGreen RolloutType = "BlueGreen"
)

// ModelBoxRolloutStep is a step of a rollout.
type ModelBoxRolloutStep struct {
	Weight int32
	Pause  string
}

// ModelBoxRolloutCheck is what the steps of a rollout measure of the new revision.
type ModelBoxRolloutCheck struct {
	Name         string
	Prometheus   ModelBoxPrometheusQuery
	Max          *resource.Quantity
	Min          *resource.Quantity
	Interval     string
	Count        *int32
	FailureLimit *int32
	InitialDelay string
}

// ModelBoxPrometheusQuery is a query for the Prometheus of the server.
type ModelBoxPrometheusQuery struct {
	Query string
}

// RolloutPhase is how far a rollout has come.
type RolloutPhase string

const (
	// RolloutProgressing is a rollout in progress.
	RolloutProgressing RolloutPhase = "Progressing"
	// RolloutComplete is one whose pods are all there and available.
	RolloutComplete RolloutPhase = "Complete"
	// RolloutFailed is one that has failed, and is left as it is.
	RolloutFailed RolloutPhase = "Failed"
	// RolloutPaused is one that has failed, and was stopped where it was.
	RolloutPaused RolloutPhase = "Paused"
	// RolloutRolledBack is one that has failed, and in whose place the stable revision is.
	RolloutRolledBack RolloutPhase = "RolledBack"
)

// ModelBoxRolloutStatus is how the rollout of the pods that the box asks for gets on.
type ModelBoxRolloutStatus struct {
	Phase           RolloutPhase
	PodsHash        string
	StartedAt       metav1.Time
	Reason          string
	Message         string
	Stable          *ModelBoxRolloutRevision
	FailedRevisions []ModelBoxFailedRevision
	Step            *int32
	Weight          *int32
	NextStepAt      *metav1.Time
	Candidate       *ModelBoxRolloutCandidate
	Traffic         *ModelBoxRolloutTraffic
	Checks          []ModelBoxRolloutCheckStatus
	Jobs            []ModelBoxRolloutJob
}

// ModelBoxRolloutCheckStatus is the results of a check in a step of a rollout.
type ModelBoxRolloutCheckStatus struct {
	Name           string
	Step           int32
	Successes      int32
	Failures       int32
	Inconclusive   int32
	Value          string
	ReachedAt      *metav1.Time
	LastMeasuredAt *metav1.Time
	Message        string
}

// ModelBoxRolloutCandidate is the new revision of the pods of a box while it runs beside the stable one.
type ModelBoxRolloutCandidate struct {
	PodsHash          string
	Generation        int64
	AvailableReplicas int32
}

// TrafficTarget says which pods the Service of a box leads to.
type TrafficTarget string

// ModelBoxRolloutTraffic is which pods get the traffic of a box.
type ModelBoxRolloutTraffic struct {
	Service    TrafficTarget
	StableHash string
	Weight     int32
}

// ModelBoxRolloutRevision is what the pods of a box were.
type ModelBoxRolloutRevision struct {
	PodsHash   string
	Generation int64
	Name       string
}

// ModelBoxFailedRevision is what the pods of a box were to be when a rollout failed.
type ModelBoxFailedRevision struct {
	PodsHash   string
	Generation int64
	Name       string
	Reason     string
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxRetry is a request to try a rollout again that has failed, and the answer to it. It is not stored.
type ModelBoxRetry struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Status ModelBoxRetryStatus
}

// ModelBoxRetryStatus is what a retry has done.
type ModelBoxRetryStatus struct {
	StartedAt  metav1.Time
	Generation int64
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxPromotion is a request to continue with the next step of a rollout, and the response to it. It is not stored.
type ModelBoxPromotion struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Full   bool
	Status ModelBoxPromotionStatus
}

// ModelBoxPromotionStatus is what a promotion has done.
type ModelBoxPromotionStatus struct {
	Step       int32
	Generation int64
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ModelBoxAbort is a request to give the pods of a box the stable revision back, and the answer to it. It is not stored.
type ModelBoxAbort struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Status ModelBoxAbortStatus
}

// ModelBoxAbortStatus is what an abort has done.
type ModelBoxAbortStatus struct {
	StableGeneration int64
	Generation       int64
}
