// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// failedVerdict is the verdict of the conditions of a box whose rollout has failed: what has failed, what runs in its place, and
// what to do about it. It is nil for any other rollout.
func failedVerdict(box *modelv1.ModelBox, observed *Observation, rollout verdict) *verdict {
	status := observed.Rollout.Status
	if status == nil || !status.Phase.HasFailed() {
		return nil
	}
	why := "the rollout has failed: " + status.Reason + ": " + status.Message
	if status.Reason == modelv1.RolloutAborted {
		why = "the rollout was aborted: " + status.Message
	}
	goOn := fmt.Sprintf("; to continue, change the spec, or run \"kubectl modelbox retry %s\" or \"kubectl modelbox rollback %s\"", box.Name, box.Name)
	switch {
	case status.Phase == modelv1.RolloutRolledBack && rollout.Reason == modelv1.ReasonRolloutComplete && isTakenBack(box, status):
		return &verdict{false, modelv1.ReasonRolledBack, fmt.Sprintf("%s; rolled back to %s: %s%s", why, DescribeRevision(status.Stable), rollout.Message, goOn)}
	case status.Phase == modelv1.RolloutRolledBack:
		return &verdict{false, modelv1.ReasonRolledBack, fmt.Sprintf("%s; rolling back to %s: %s%s", why, DescribeRevision(status.Stable), rollout.Message, goOn)}
	case status.Phase == modelv1.RolloutPaused:
		why += "; no further pod gets the new revision"
	}
	reason := modelv1.ReasonRolloutFailed
	if status.Reason == modelv1.ReasonProgressDeadlineExceeded {
		reason = status.Reason
	}
	return &verdict{false, reason, why + goOn}
}

// isTakenBack returns whether the children are rendered for the rollback. The reconcile that decides on the rollback has rendered
// them before.
func isTakenBack(box *modelv1.ModelBox, status *modelv1.ModelBoxRolloutStatus) bool {
	last := box.Status.Rollout
	return last != nil && last.Phase == modelv1.RolloutRolledBack && last.PodsHash == status.PodsHash
}

// DescribeRevision names a revision.
func DescribeRevision(revision *modelv1.ModelBoxRolloutRevision) string {
	if revision.Name == "" {
		return fmt.Sprintf("the revision of generation %d", revision.Generation)
	}
	return fmt.Sprintf("revision %s of generation %d", revision.Name, revision.Generation)
}
