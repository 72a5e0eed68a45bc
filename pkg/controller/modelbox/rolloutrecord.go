// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

// revisionAnnotation is the Deployment controller's number of a rollout: it changes with the pod template and with
// nothing else.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// rolloutRecord remembers which rollout of each box was complete last: replicas that are added or replaced are no
// rollout, nor is a change of the Deployment that leaves its pods alone. It is lost with the process, and then a rollout
// is a new one if the last status of the box says that it was going on.
type rolloutRecord struct {
	mu        sync.Mutex
	completed map[types.NamespacedName]rolloutID
}

// rolloutID tells one rollout from another.
type rolloutID struct {
	deployment types.UID
	revision   string
}

func newRolloutRecord() *rolloutRecord {
	return &rolloutRecord{completed: map[types.NamespacedName]rolloutID{}}
}

// complete takes note that the rollout of the box's Deployment is complete. It returns whether that is news, after a
// status that said so, or not.
func (r *rolloutRecord) complete(box types.NamespacedName, deployment *appsv1.Deployment, wasComplete bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	rollout := rolloutID{deployment.UID, deployment.Annotations[revisionAnnotation]}
	last, isKnown := r.completed[box]
	r.completed[box] = rollout
	if !isKnown {
		return !wasComplete
	}
	return last != rollout
}

func (r *rolloutRecord) forget(box types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.completed, box)
}
