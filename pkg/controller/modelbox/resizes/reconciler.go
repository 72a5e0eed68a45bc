// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package resizes resizes the pods of boxes in place, and brings the pod templates of their workloads to agree with the pods without a
// rollout.
package resizes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// conflictRetry is how soon a pod or a ReplicaSet is read again that another client has changed.
const conflictRetry = time.Second

// Reconciler resizes the pods of boxes in place.
type Reconciler struct {
	kubeClient kubernetes.Interface
	// begun are the boxes that begin a resize.
	begun *reconciler.Memory[bool]
	// refusals are the last answers of the cluster to boxes that it does not let resize a pod.
	refusals *reconciler.Memory[refusal]
}

// New returns a Reconciler of boxes that reads and writes pods and ReplicaSets with the client.
func New(boxes *reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus], kubeClient kubernetes.Interface) *Reconciler {
	r := &Reconciler{kubeClient, reconciler.NewMemory[bool](), reconciler.NewMemory[refusal]()}
	boxes.Remember(r.begun)
	boxes.Remember(r.refusals)
	return r
}

// Reconcile takes the resize of the box one step further, and returns how far it has come. The children follow the last status: a decision
// is carried out after it is in the status, where it outlives this process. resize is modelboxrender.ResizeOf of the box, which is nil if
// the box is in no resize. The error is a request that failed; the status is valid all the same.
func (r *Reconciler) Reconcile(ctx context.Context, box *modelv1.ModelBox, podsHash func() (string, error), resize *modelboxrender.Resize, observed *status.Observation) (status.ResizeObservation, error) {
	last := box.Status.Resize
	switch {
	case box.Spec.Paused:
		return status.ResizeObservation{Status: last}, nil
	case resize == nil && (last == nil || last.Phase != modelv1.ResizeRestarting):
		return status.ResizeObservation{}, nil
	}
	hash, err := podsHash()
	if err != nil {
		return status.ResizeObservation{}, fmt.Errorf("rendering the pods: %w", err)
	}
	if resize == nil {
		return r.observeRestart(box, hash, observed)
	}
	next := nextOf(last, resize, hash, observed.Now)
	observation := status.ResizeObservation{Status: next}
	switch {
	case resize.Obstacle != "":
		next.Reason, next.Message = modelv1.ResizeInfeasible, resize.Obstacle
		return observation, nil
	case last == nil || last.Phase != next.Phase || last.PodsHash != hash:
		return observation, nil
	case !status.AppliedVerdict(observed).IsTrue && next.Phase != modelv1.ResizeCompleting: // The cluster may reject the resources in the end.
		return observation, nil
	}
	return r.advance(ctx, box, resize, observed, next)
}

// nextOf returns the status of the resize to the pods with the hash. It continues the last resize, which may have been to other pods.
func nextOf(last *modelv1.ModelBoxResizeStatus, resize *modelboxrender.Resize, hash string, now time.Time) *modelv1.ModelBoxResizeStatus {
	if last != nil && last.Phase != modelv1.ResizeRestarting && last.PodsHash == hash {
		return last.DeepCopy()
	}
	return &modelv1.ModelBoxResizeStatus{
		Phase: cmp.Or(resize.Phase, modelv1.ResizeInProgress), PodsHash: hash, ProgressedAt: metav1.NewTime(now.Truncate(time.Second)),
	}
}

// advance resizes pods, and begins the next phase if the current one is over. It changes next.
func (r *Reconciler) advance(ctx context.Context, box *modelv1.ModelBox, resize *modelboxrender.Resize, observed *status.Observation, next *modelv1.ModelBoxResizeStatus) (status.ResizeObservation, error) {
	observation := status.ResizeObservation{Status: next}
	if observed.Workload == nil {
		return observation, nil
	}
	found, err := r.find(ctx, box, observed.Workload)
	if err != nil {
		return observation, err
	}
	progress, err := r.resizePods(ctx, box, found.pods, resize.Wanted, observed.Workload, observed.Now)
	observation.RecheckAfter = progress.recheckAfter
	if progress.resized > next.ResizedReplicas {
		next.ProgressedAt = metav1.NewTime(observed.Now.Truncate(time.Second))
	}
	next.ResizedReplicas, next.Reason, next.Message = progress.resized, progress.reason, message.Truncate(progress.message)
	if err != nil {
		return observation, err
	}
	isResized := int(progress.resized) == len(found.pods)
	if !isResized {
		observation.RecheckAfter = reconciler.Soonest(observation.RecheckAfter, giveUp(box, observed.Now, next))
	}
	switch {
	case next.Phase == modelv1.ResizeInProgress && observed.Workload.Replicas().Desired == 0: // A new template replaces no pod.
		next.Phase = modelv1.ResizeCompleting
	case next.Phase == modelv1.ResizeInProgress && isResized && found.isSettled(observed.Workload):
		next.Phase = modelv1.ResizeHalted
		if resize.IsIn(observed.Workload.PodTemplate()) && !slices.ContainsFunc(found.active, func(set *appsv1.ReplicaSet) bool { return !resize.IsIn(&set.Spec.Template) }) {
			observation.Status = nil
		}
	case next.Phase == modelv1.ResizeHalted:
		phase, retry, err := r.agree(ctx, box, resize, observed.Workload, found, isResized)
		next.Phase, observation.RecheckAfter = phase, reconciler.Soonest(observation.RecheckAfter, retry)
		return observation, err
	case next.Phase == modelv1.ResizeCompleting && isResized && isRolledOut(observed.Workload):
		observation.Status = nil
	}
	return observation, nil
}

// agree brings the templates of a halted workload and of its pods to agree, so that it does not replace them when it continues. It returns
// the next phase, and after how long to requeue the box, 0 for not at all.
func (r *Reconciler) agree(ctx context.Context, box *modelv1.ModelBox, resize *modelboxrender.Resize, workload kinds.Workload, found podsOfWorkload, isResized bool) (modelv1.ResizePhase, time.Duration, error) {
	if deployment, isDeployment := workload.(kinds.Deployment); isDeployment {
		return r.agreeByReplicaSet(ctx, resize, deployment, found, isResized)
	}
	return r.agreeByLabels(ctx, box, workload, found, isResized)
}

// giveUp replaces the pods if one of them cannot be resized, or if none has been for too long, and if the box allows that. It changes next.
// Otherwise, it returns after how long to requeue the box, 0 for not at all.
func giveUp(box *modelv1.ModelBox, now time.Time, next *modelv1.ModelBoxResizeStatus) time.Duration {
	if box.Spec.Resize.Mode != modelv1.ResizeInPlaceOrRestart {
		return 0
	}
	left := next.ProgressedAt.Add(box.Spec.ResizeTimeout()).Sub(now)
	if next.Reason != modelv1.ResizeInfeasible && left > 0 {
		return left
	}
	if next.Reason == "" {
		next.Reason, next.Message = modelv1.ResizeDeferred, "no pod was resized within "+box.Spec.ResizeTimeout().String()
	}
	next.Phase = modelv1.ResizeRestarting
	return 0
}

// observeRestart returns the status of a resize in whose place the pods are replaced, until they are.
func (r *Reconciler) observeRestart(box *modelv1.ModelBox, hash string, observed *status.Observation) (status.ResizeObservation, error) {
	last := box.Status.Resize
	if last.PodsHash != hash || observed.Workload == nil {
		return status.ResizeObservation{}, nil
	}
	wanted, err := modelboxrender.PodTemplate(box)
	if err != nil {
		return status.ResizeObservation{}, fmt.Errorf("rendering the pods: %w", err)
	}
	resize := &modelboxrender.Resize{Wanted: wanted}
	if observed.Candidate == nil && resize.IsIn(observed.Workload.PodTemplate()) && isRolledOut(observed.Workload) {
		return status.ResizeObservation{}, nil
	}
	return status.ResizeObservation{Status: last}, nil
}

func isRolledOut(workload kinds.Workload) bool {
	return workload.Rollout().Reason == modelv1.ReasonRolloutComplete
}
