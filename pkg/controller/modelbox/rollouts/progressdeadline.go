// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

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

func NewProgressRecord() *progressRecord {
	return &progressRecord{reconciler.NewMemory[milestone]()}
}

// Observe takes note of the workload of the box, which may be nil, and returns how its rollout gets on.
func (r *progressRecord) Observe(box *modelv1.ModelBox, workload kinds.Workload, now time.Time) status.Progress {
	if workload == nil || workload.HasProgressDeadline() || !isRollingOut(workload) || isBetweenNodes(box, workload) {
		r.Forget(apply.KeyOf(box))
		return status.Progress{}
	}
	deadline := helper.ProgressDeadline(box)
	replicas := workload.Replicas()
	reached := milestone{
		rollout:   rolloutOf(workload),
		desired:   replicas.Desired,
		updated:   replicas.Updated,
		available: replicas.Available,
		surviving: max(0, replicas.Current-replicas.Updated),
		at:        now,
	}
	last, isKnown := r.Get(apply.KeyOf(box))
	switch {
	case !isKnown && wasOverdue(box, replicas):
		reached.at = now.Add(-deadline)
	case isKnown && last.rollout == reached.rollout && last.desired == reached.desired:
		reached = last.furthest(reached)
	}
	if rollout := box.Status.Rollout; rollout != nil && rollout.StartedAt.After(reached.at) {
		reached.at = rollout.StartedAt.Time // It is tried again.
	}
	r.Set(apply.KeyOf(box), reached)
	left := deadline - now.Sub(reached.at)
	return status.Progress{IsOverdue: left <= 0, TimeLeft: max(0, left)}
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
func isRollingOut(workload kinds.Workload) bool {
	pause := workload.Pause()
	return workload.Rollout().IsTrue && (pause == nil || !pause.StopsRollout)
}

// isBetweenNodes returns whether the workload is a DaemonSet in steps whose pods are all available: the next one is replaced when the step
// is over.
func isBetweenNodes(box *modelv1.ModelBox, workload kinds.Workload) bool {
	set, isDaemonSet := workload.(kinds.DaemonSet)
	if !isDaemonSet || box.Status.Rollout == nil || box.Status.Rollout.Step == nil || set.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType {
		return false
	}
	replicas := set.Replicas()
	return replicas.Available >= replicas.Desired
}

// wasOverdue returns whether the last status of the box says so of what there is now.
func wasOverdue(box *modelv1.ModelBox, replicas kinds.Replicas) bool {
	progressing := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionProgressing)
	return progressing != nil && progressing.Reason == modelv1.ReasonProgressDeadlineExceeded &&
		progressing.ObservedGeneration == box.Generation &&
		replicas.Updated <= box.Status.UpdatedReplicas && replicas.Available <= box.Status.AvailableReplicas
}
