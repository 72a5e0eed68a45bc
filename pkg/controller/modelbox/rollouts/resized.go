// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"fmt"
	"slices"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

// Resized returns the status of the rollout of a box whose pods are resized in place, which is no rollout. It is the last status until all
// pods are resized. Then these are the stable pods, before the workload has their template.
func Resized(box *modelv1.ModelBox, podsHash podsHashFunc, observed *status.Observation) (*modelv1.ModelBoxRolloutStatus, error) {
	last, resize := box.Status.Rollout, observed.Resize.Status
	if box.Spec.Rollout == nil || last == nil || resize != nil && (resize.Phase == modelv1.ResizeInProgress || resize.Phase == modelv1.ResizeRestarting) {
		return last, nil
	}
	hash, err := podsHash()
	if err != nil {
		return nil, fmt.Errorf("rendering the pods: %w", err)
	}
	next := last.DeepCopy()
	next.PodsHash = hash
	if last.Stable != nil {
		next.Stable = stableRevision(box, hash, nil, observed)
		if last.Stable.PodsHash == hash {
			next.Stable.Generation = last.Stable.Generation
		}
	}
	next.FailedRevisions = slices.DeleteFunc(next.FailedRevisions, func(failed modelv1.ModelBoxFailedRevision) bool { return failed.PodsHash == hash })
	return next, nil
}
