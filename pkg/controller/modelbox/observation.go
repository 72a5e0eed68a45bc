// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
)

// observation is what a reconcile found and did.
type observation struct {
	// workload, service, ingress, route and autoscaler are nil where there is none that belongs to the box.
	workload   workload
	service    *corev1.Service
	ingress    *networkingv1.Ingress
	route      *gatewayv1.HTTPRoute
	autoscaler *autoscalingv2.HorizontalPodAutoscaler
	pods       []*corev1.Pod
	// ingressClass is the class of the Ingress.
	ingressClass ingressClass
	// mountFailures say, by the UID of the pod, why pods wait for a volume.
	mountFailures map[types.UID]string
	// pendingClaims say, by the name of the claim, what storage pods wait for.
	pendingClaims map[string]string
	// livenessFailures say what the liveness probes of containers found that were restarted and have not recovered.
	livenessFailures map[containerID]string
	// creationFailure is why pods are not even created, nil when they are.
	creationFailure *podFailure
	// progress is how a rollout gets on of whose progress the workload does not tell.
	progress progress
	// rollout is what becomes of the rollout, where the box asks for that.
	rollout rolloutObservation
	now     time.Time
	// pending are the kinds of children that the box is paused before.
	pending []string
	// unreleased are the names of storage that is retained and whose claims the box may still own.
	unreleased []string
	// failures are what kept children from being what the box says.
	failures []error
	// ignored are fields of children that other managers have set and may have.
	ignored []children.IgnoredDrift
}

// containerID is one container of a pod.
type containerID struct {
	pod  types.UID
	name string
}

// rolloutObservation is what became of the rollout of a box.
type rolloutObservation struct {
	// status is the status of the rollout, nil if the box does not ask for one.
	status *modelv1.ModelBoxRolloutStatus
	// outdated is a pod of a rollout that is tried again which failed before; nil where there is none.
	outdated *corev1.Pod
	// recheckAfter is how soon a step that only takes its time will count as a failure, 0 for never.
	recheckAfter time.Duration
}

// isIn returns whether the box asks for a rollout, and it is in the phase.
func (o rolloutObservation) isIn(phase modelv1.RolloutPhase) bool {
	return o.status != nil && o.status.Phase == phase
}

// progress is how a rollout gets on. It is zero for a rollout that is complete, waits for a user, or has a deadline of its own.
type progress struct {
	// isOverdue says that there has been no progress for so long that there will be none.
	isOverdue bool
	// timeLeft is how soon that will be so, 0 where it is.
	timeLeft time.Duration
}
