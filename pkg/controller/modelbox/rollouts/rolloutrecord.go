// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// rolloutRecord remembers which rollout of each box was complete last. Replicas that are added or replaced are no rollout, nor is a
// change of the workload that leaves its pods alone. The record is lost with the process. A rollout is a new one then if the last
// status of the box says that it was in progress.
type rolloutRecord struct {
	completed   *reconciler.Memory[rolloutID]
	annotations *reconciler.Memory[annotatedGenerations]
}

// rolloutID tells one rollout from another.
type rolloutID struct {
	workload types.UID
	revision string
}

func rolloutOf(workload kinds.Workload) rolloutID {
	return rolloutID{workload.GetUID(), workload.Revision()}
}

// annotatedGenerations are the generations of a Deployment, after the first, that changed only its annotations. The Deployment
// controller has nothing to do for them, and they say nothing about a rollout.
type annotatedGenerations struct {
	deployment  types.UID
	first, last int64
}

func NewRolloutRecord() *rolloutRecord {
	return &rolloutRecord{completed: reconciler.NewMemory[rolloutID](), annotations: reconciler.NewMemory[annotatedGenerations]()}
}

// Complete takes note that the rollout of the box's workload is complete. It returns whether that is news, after a
// status that said so, or not.
func (r *rolloutRecord) Complete(box types.NamespacedName, workload kinds.Workload, wasComplete bool) bool {
	rollout := rolloutOf(workload)
	last, isKnown := r.completed.Get(box)
	r.completed.Set(box, rollout)
	if !isKnown {
		return !wasComplete
	}
	return last != rollout
}

// Annotated takes note of a write, if it changed nothing but annotations.
func (r *rolloutRecord) Annotated(box types.NamespacedName, before, after children.Object) {
	was, ok := before.(*appsv1.Deployment)
	is, written := after.(*appsv1.Deployment)
	if !ok || !written || is.Generation != was.Generation+1 || !apiequality.Semantic.DeepEqual(was.Spec, is.Spec) {
		return
	}
	generations := annotatedGenerations{was.UID, was.Generation, is.Generation}
	if last, _ := r.annotations.Get(box); last.deployment == was.UID && last.last == was.Generation {
		generations.first = last.first
	}
	r.annotations.Set(box, generations)
}

// Observed returns a Deployment as its controller will report it once it has seen annotations that changed, and any other
// workload as it is. nil stays nil, and the object is not changed.
func (r *rolloutRecord) Observed(box types.NamespacedName, observed kinds.Workload) kinds.Workload {
	deployment, ok := observed.(kinds.Deployment)
	if !ok || deployment.Status.ObservedGeneration >= deployment.Generation {
		return observed
	}
	generations, _ := r.annotations.Get(box)
	if generations.deployment != deployment.UID || generations.last != deployment.Generation || deployment.Status.ObservedGeneration < generations.first {
		return observed
	}
	seen := *deployment.Deployment
	seen.Status.ObservedGeneration = deployment.Generation
	return kinds.Deployment{Deployment: &seen}
}

// Forget implements reconciler.Forgetter.
func (r *rolloutRecord) Forget(box types.NamespacedName) {
	r.completed.Forget(box)
	r.annotations.Forget(box)
}
