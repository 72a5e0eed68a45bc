// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
}

// RolloutPhase is how far a rollout has come.
type RolloutPhase string

const (
	// RolloutProgressing is a rollout that goes on.
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
