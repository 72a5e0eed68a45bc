// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"fmt"
	"slices"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// Resized returns the status of the rollout of a box whose pods are resized in place, which is no rollout. It is the last status until all
// pods are resized. Then these are the stable pods, before the workload has their template. resize is nil when it has.
func Resized(box *modelv1.ModelBox, podsHash podsHashFunc, resize *modelv1.ModelBoxResizeStatus) (*modelv1.ModelBoxRolloutStatus, error) {
	last := box.Status.Rollout
	if box.Spec.Rollout == nil || last == nil || resize != nil && (resize.Phase == modelv1.ResizeInProgress || resize.Phase == modelv1.ResizeRestarting) {
		return last, nil
	}
	hash, err := podsHash()
	if err != nil {
		return nil, fmt.Errorf("rendering the pods: %w", err)
	}
	next := last.DeepCopy()
	next.PodsHash = hash
	if next.Stable != nil && next.Stable.PodsHash != hash {
		next.Stable = &modelv1.ModelBoxRolloutRevision{PodsHash: hash, Generation: box.Generation, Name: next.Stable.Name}
	}
	next.FailedRevisions = slices.DeleteFunc(next.FailedRevisions, func(failed modelv1.ModelBoxFailedRevision) bool { return failed.PodsHash == hash })
	return next, nil
}
