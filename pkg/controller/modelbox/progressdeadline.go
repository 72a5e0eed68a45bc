// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// progressDeadline is how long a workload may make no progress where the box says nothing else, as a Deployment.
const progressDeadline = time.Duration(modelv1.DefaultProgressDeadlineSeconds) * time.Second

// progressRecord remembers when the workload of each box last came nearer to what it is to be. It is lost with the process. A
// workload that was overdue in the last status stays overdue, and the time begins again for all others.
type progressRecord struct{ *reconciler.Memory[milestone] }

// milestone is the furthest that a rollout has come. Pods that get ready and fail again are no progress.
type milestone struct {
	rollout                       rolloutID
	desired                       int32
	updated, available, surviving int32
	at                            time.Time
}

func newProgressRecord() *progressRecord {
	return &progressRecord{reconciler.NewMemory[milestone]()}
}

// observe takes note of the workload of the box, which may be nil, and returns how its rollout gets on.
func (r *progressRecord) observe(box *modelv1.ModelBox, workload workload, now time.Time) progress {
	if workload == nil || workload.hasProgressDeadline() || !isRollingOut(workload) {
		r.Forget(reconciler.KeyOf(box))
		return progress{}
	}
	deadline := progressDeadlineOf(box)
	replicas := workload.replicas()
	reached := milestone{
		rollout:   rolloutOf(workload),
		desired:   replicas.desired,
		updated:   replicas.updated,
		available: replicas.available,
		surviving: max(0, replicas.current-replicas.updated),
		at:        now,
	}
	last, isKnown := r.Get(reconciler.KeyOf(box))
	switch {
	case !isKnown && wasOverdue(box, replicas):
		reached.at = now.Add(-deadline)
	case isKnown && last.rollout == reached.rollout && last.desired == reached.desired:
		reached = last.furthest(reached)
	}
	if rollout := box.Status.Rollout; rollout != nil && rollout.StartedAt.After(reached.at) {
		reached.at = rollout.StartedAt.Time // It is tried again.
	}
	r.Set(reconciler.KeyOf(box), reached)
	left := deadline - now.Sub(reached.at)
	return progress{isOverdue: left <= 0, timeLeft: max(0, left)}
}

// furthest returns the later one of two milestones of a rollout where it is further in anything, and the first otherwise.
func (m milestone) furthest(later milestone) milestone {
	if later.updated <= m.updated && later.available <= m.available && later.surviving >= m.surviving {
		return m
	}
	m.updated, m.available = max(m.updated, later.updated), max(m.available, later.available)
	m.surviving, m.at = min(m.surviving, later.surviving), later.at
	return m
}

// isRollingOut returns whether the workload gets further with a rollout as long as nothing keeps its pods from running.
func isRollingOut(workload workload) bool {
	pause := workload.pause()
	return workload.rollout().IsTrue && (pause == nil || !pause.stopsRollout)
}

// wasOverdue returns whether the last status of the box says so of what there is now.
func wasOverdue(box *modelv1.ModelBox, replicas replicas) bool {
	progressing := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionProgressing)
	return progressing != nil && progressing.Reason == modelv1.ReasonProgressDeadlineExceeded &&
		progressing.ObservedGeneration == box.Generation &&
		replicas.updated <= box.Status.UpdatedReplicas && replicas.available <= box.Status.AvailableReplicas
}
