// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// The controller asks the cluster again to let a claim grow after a pause, which doubles from the first to the last of these. No
// event reports that a storage class has come to allow it.
const (
	firstGrowthPause = children.RecheckPeriod
	lastGrowthPause  = 5 * time.Minute
)

// refusedGrowths remembers the sizes that the cluster has refused to claims. It is lost with the process, and costs one more
// request.
type refusedGrowths struct {
	mu      sync.Mutex
	refused map[types.UID]refusedGrowth
}

type refusedGrowth struct {
	box   types.NamespacedName
	size  resource.Quantity
	err   error
	pause time.Duration
	until time.Time
}

func newRefusedGrowths() *refusedGrowths {
	return &refusedGrowths{refused: map[types.UID]refusedGrowth{}}
}

// find returns why the claim must not request the size now, nil if it may.
func (r *refusedGrowths) find(claim types.UID, size resource.Quantity, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	refused, isKnown := r.refused[claim]
	if !isKnown || refused.size.Cmp(size) != 0 || !now.Before(refused.until) {
		return nil
	}
	return &children.BackoffError{Err: refused.err, RetryAfter: refused.until.Sub(now)}
}

// answer records the answer to a claim that requested the size. It returns the error, with the pause if the error is a refusal.
func (r *refusedGrowths) answer(box types.NamespacedName, claim types.UID, size resource.Quantity, err error, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		delete(r.refused, claim)
		return err
	}
	pause := firstGrowthPause
	if before, isKnown := r.refused[claim]; isKnown && before.size.Cmp(size) == 0 {
		pause = min(2*before.pause, lastGrowthPause)
	}
	r.refused[claim] = refusedGrowth{box, size, err, pause, now.Add(pause)}
	return &children.BackoffError{Err: err, RetryAfter: pause}
}

// Forget implements reconciler.Forgetter.
func (r *refusedGrowths) Forget(box types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.refused, func(_ types.UID, refused refusedGrowth) bool { return refused.box == box })
}

// holdGrowingClaims holds the claims that the pods of a Deployment share and that were refused their size, for a while.
func (s *Reconciler) holdGrowingClaims(_ context.Context, box *modelv1.ModelBox, result *Result) error {
	if box.Spec.Paused {
		return nil
	}
	var err error
	if result.growing, err = s.growingClaims(box); err != nil {
		return err
	}
	for name, growth := range result.growing {
		if err := s.refusedGrowths.find(growth.claim, growth.size, s.Clock.Now()); err != nil {
			result.Failures = append(result.Failures, err)
			result.held = append(result.held, name)
		}
	}
	return nil
}

// NoteRefusedGrowth takes note of what became of the claims that were to grow when the children were reconciled.
func (s *Reconciler) NoteRefusedGrowth(box *modelv1.ModelBox, storage *Result, result *children.Result) {
	for name, growth := range storage.growing {
		err := result.Failure(kinds.ClaimGVK.Kind, name)
		if err == nil {
			continue
		}
		noted := s.refusedGrowths.answer(apply.KeyOf(box), growth.claim, growth.size, err, s.Clock.Now())
		if i := slices.Index(result.Failures, err); i >= 0 {
			result.Failures[i] = noted
		}
	}
}

// growth is a claim that is smaller than its box asks for.
type growth struct {
	claim types.UID
	size  resource.Quantity
}

// growingClaims returns the claims that the pods of a Deployment share and that are to grow, by name.
func (s *Reconciler) growingClaims(box *modelv1.ModelBox) (map[string]growth, error) {
	if box.Spec.Workload == modelv1.WorkloadStatefulSet || len(box.Spec.Storage) == 0 {
		return nil, nil
	}
	live, growing := s.Children.Live(box), map[string]growth{}
	for i := range box.Spec.Storage {
		storage := &box.Spec.Storage[i]
		name := helper.ClaimName(box.Name, storage.Name)
		object, err := live.Child(kinds.ClaimGVK, name)
		if err != nil {
			return nil, err
		}
		if claim, isThere := object.(*corev1.PersistentVolumeClaim); isThere && claim.Spec.Resources.Requests.Storage().Cmp(storage.RequestedSize) < 0 {
			growing[name] = growth{claim.UID, storage.RequestedSize}
		}
	}
	return growing, nil
}
