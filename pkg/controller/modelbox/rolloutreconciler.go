// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"k8s.io/client-go/kubernetes"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// rolloutReconciler finds out how the rollouts of boxes get on, and deletes pods that keep them from getting further.
type rolloutReconciler struct {
	*reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus]

	kubeClient     kubernetes.Interface
	kinds          []*children.Kind
	record         *rolloutRecord
	progress       *progressRecord
	stableRecords  *stableRecords
	newReplicaSets *reconciler.Memory[newReplicaSet]
}

// newRolloutReconciler returns a rolloutReconciler of boxes with children of the kinds.
func newRolloutReconciler(boxes *reconciler.For[*modelv1.ModelBox, modelv1.ModelBoxStatus], kubeClient kubernetes.Interface, kinds []*children.Kind) *rolloutReconciler {
	r := &rolloutReconciler{
		For:            boxes,
		kubeClient:     kubeClient,
		kinds:          kinds,
		record:         newRolloutRecord(),
		progress:       newProgressRecord(),
		stableRecords:  newStableRecords(),
		newReplicaSets: reconciler.NewMemory[newReplicaSet](),
	}
	for _, memory := range []reconciler.Forgetter{r.record, r.progress, r.stableRecords, r.newReplicaSets} {
		boxes.Remember(memory)
	}
	return r
}
