// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package status computes the status of a box from what was observed of its children and pods. It sends no request.
package status

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// Observation is what a reconcile found and did.
type Observation struct {
	// workload, service, ingress, HTTPRoute, GRPCRoute and autoscaler are nil where there is none that belongs to the box.
	Workload kinds.Workload
	// Candidate is the candidate Deployment, nil where there is none.
	Candidate  kinds.Workload
	Service    *corev1.Service
	Ingress    *networkingv1.Ingress
	HTTPRoute  *gatewayv1.HTTPRoute
	GRPCRoute  *gatewayv1.GRPCRoute
	Autoscaler *autoscalingv2.HorizontalPodAutoscaler
	Pods       []*corev1.Pod
	// IngressClass is the class of the Ingress.
	IngressClass kinds.IngressClass
	// MountFailures say, by the UID of the pod, why pods wait for a volume.
	MountFailures map[types.UID]string
	// PendingClaims say, by the name of the claim, what storage pods wait for.
	PendingClaims map[string]string
	// LivenessFailures say what the liveness probes of containers found that were restarted and have not recovered.
	LivenessFailures map[ContainerID]string
	// CreationFailure is why pods are not even created, nil when they are.
	CreationFailure *PodFailure
	// LostJob is the result of the Job of the box if the Job has finished and no longer exists, nil otherwise.
	LostJob *modelv1.ModelBoxJobStatus
	// JobRecheckAfter is after how long to look again whether the Jobs of the box have pods, 0 for never.
	JobRecheckAfter time.Duration
	// Progress is how a rollout gets on of whose progress the workload does not tell.
	Progress Progress
	// Rollout is what becomes of the rollout, where the box asks for that.
	Rollout RolloutObservation
	// Resize is what becomes of a resize in place.
	Resize ResizeObservation
	// AwaitsReferences is modelboxrender.AwaitsReferences of the box.
	AwaitsReferences bool
	Now              time.Time
	// Pending are the kinds of children that the box is paused before.
	Pending []string
	// Unreleased are the names of storage that is retained and whose claims the box may still own.
	Unreleased []string
	// Failures are what kept children from being what the box says.
	Failures []error
	// Ignored are fields of children that other managers have set and may have.
	Ignored []children.IgnoredDrift
}

// ContainerID is one container of a pod.
type ContainerID struct {
	Pod  types.UID
	Name string
}

// RolloutObservation is what became of the rollout of a box.
type RolloutObservation struct {
	// Status is the status of the rollout, nil if the box does not ask for one.
	Status *modelv1.ModelBoxRolloutStatus
	// Outdated is a pod of a rollout that is tried again which failed before; nil where there is none.
	Outdated *corev1.Pod
	// Replaceable is a pod of a DaemonSet whose node gets the new revision in the step. It is nil if there is none, or if other
	// pods must be available first.
	Replaceable *corev1.Pod
	// RecheckAfter is how soon a step that only takes its time will count as a failure, or a pause is over; 0 for never.
	RecheckAfter time.Duration
	// AwaitsPromotion says that the rollout is in a step that ends with the subresource promote.
	AwaitsPromotion bool
	// AwaitedCheck describes a check that does not let the rollout continue yet. It is empty if there is none.
	AwaitedCheck string
	// AwaitedJob describes a Job that the rollout waits for. It is empty if there is none.
	AwaitedJob string
	// Failure is why such a Job could not be created or deleted, nil if it could.
	Failure error
}

// isInSteps returns whether the rollout is in steps, even if it has failed in one.
func (o RolloutObservation) isInSteps() bool { return o.Status != nil && o.Status.Step != nil }

// isIn returns whether the box asks for a rollout, and it is in the phase.
func (o RolloutObservation) isIn(phase modelv1.RolloutPhase) bool {
	return o.Status != nil && o.Status.Phase == phase
}

// ResizeObservation is what became of a resize in place.
type ResizeObservation struct {
	// Status is the status of the resize, nil if the box is in none.
	Status *modelv1.ModelBoxResizeStatus
	// RecheckAfter is after how long a resize is looked at again although nothing happens, 0 for never.
	RecheckAfter time.Duration
}

// isInPlace returns whether the box is in a resize, and its pods are not replaced instead.
func (o ResizeObservation) isInPlace() bool {
	return o.Status != nil && o.Status.Phase != modelv1.ResizeRestarting
}

// Progress is how a rollout gets on. It is zero for a rollout that is complete, waits for a user, or has a deadline of its own.
type Progress struct {
	// IsOverdue says that there has been no progress for so long that there will be none.
	IsOverdue bool
	// TimeLeft is how soon that will be so, 0 where it is.
	TimeLeft time.Duration
}
