// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resizes

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// refusal is an answer of the cluster to a box whose pod it does not let be resized. Until it is over, no pod of the box is tried again.
type refusal struct {
	// generation is the generation of the box that was refused.
	generation      int64
	reason, message string
	until           time.Time
}

// How long a refusal lasts. A quota may have room again at any time.
const (
	deferredRetry   = 15 * time.Second
	infeasibleRetry = 5 * time.Minute
)

// refuse takes note that the cluster does not let the pod be resized, in found and for later.
func (r *Reconciler) refuse(box *modelv1.ModelBox, pod *corev1.Pod, reason, why string, now time.Time, found *progress) {
	retry := deferredRetry
	if reason == modelv1.ResizeInfeasible {
		retry = infeasibleRetry
	}
	found.obstruct(pod, reason, why)
	found.recheckAfter = retry
	r.refusals.Set(apply.KeyOf(box), refusal{box.Generation, reason, why, now.Add(retry)})
}

// findRefusal returns whether the pod must not be resized yet because the cluster has refused that a short time ago. It takes note of that
// in found.
func (r *Reconciler) findRefusal(box *modelv1.ModelBox, pod *corev1.Pod, now time.Time, found *progress) bool {
	last, isKnown := r.refusals.Get(apply.KeyOf(box))
	if !isKnown || last.generation != box.Generation || !now.Before(last.until) {
		return false
	}
	found.obstruct(pod, last.reason, last.message)
	found.recheckAfter = last.until.Sub(now)
	return true
}
