// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollouts finds out how the rollouts of boxes get on, and deletes pods that keep them from getting further.
package rollouts

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// Reconciler finds out how the rollouts of boxes get on, and deletes pods that keep them from getting further.
type Reconciler struct {
	*reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus]

	kubeClient     kubernetes.Interface
	kinds          []*children.Kind
	jobs           cache.Indexer
	Record         *rolloutRecord
	Progress       *progressRecord
	StableRecords  *stableRecords
	newReplicaSets *reconciler.Memory[newReplicaSet]
	// candidateReplicaSets are the same for the candidate Deployments.
	candidateReplicaSets *reconciler.Memory[newReplicaSet]
	measurements         *measurements
}

// New returns a Reconciler of boxes with children of the kinds. jobs are the Jobs of boxes, indexed by their box. prometheus is what
// checks query, nil for nothing.
func New(boxes *reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus], kubeClient kubernetes.Interface, kinds []*children.Kind, jobs cache.Indexer, prometheus Prometheus) *Reconciler {
	r := &Reconciler{
		For:            boxes,
		kubeClient:     kubeClient,
		kinds:          kinds,
		jobs:           jobs,
		Record:         NewRolloutRecord(),
		Progress:       NewProgressRecord(),
		StableRecords:  newStableRecords(),
		newReplicaSets: reconciler.NewMemory[newReplicaSet](),

		candidateReplicaSets: reconciler.NewMemory[newReplicaSet](),
		measurements:         newMeasurements(prometheus),
	}
	for _, memory := range []reconciler.Forgetter{r.Record, r.Progress, r.StableRecords, r.newReplicaSets, r.candidateReplicaSets, r.measurements} {
		boxes.Remember(memory)
	}
	return r
}
