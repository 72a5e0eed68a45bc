// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// podsHashFunc returns modelboxrender.PodsHash of a box, which it computes once.
type podsHashFunc func() (string, error)

// stableRecords remembers the records of boxes whose pods are to become other than they were when they were complete last: caches
// have no record of the box as it is, and the workload that has it may be deleted.
type stableRecords struct {
	*reconciler.Memory[stableRecord]
}

// stableRecord is the record of the pods with that hash, empty if there is none.
type stableRecord struct {
	podsHash, record string
}

func newStableRecords() *stableRecords {
	return &stableRecords{reconciler.NewMemory[stableRecord]()}
}

// Find returns the record of the stable pods of the box, and whether it is known.
func (r *stableRecords) Find(box *modelv1.ModelBox) (string, bool) {
	if box.Status.Rollout == nil || box.Status.Rollout.Stable == nil {
		return "", false
	}
	known, isKnown := r.Get(apply.KeyOf(box))
	if !isKnown || known.podsHash != box.Status.Rollout.Stable.PodsHash {
		return "", false
	}
	return known.record, true
}

func (r *stableRecords) remember(box *modelv1.ModelBox, record string) {
	r.Set(apply.KeyOf(box), stableRecord{box.Status.Rollout.Stable.PodsHash, record})
}

// FindStableRecord looks for the record of the stable pods of the box, before its workload is written that may be all that has it.
func (r *Reconciler) FindStableRecord(ctx context.Context, box *modelv1.ModelBox, podsHash podsHashFunc) error {
	isNeeded, err := needsStableRecord(box, podsHash)
	if err != nil {
		return err
	}
	if !isNeeded {
		r.StableRecords.Forget(apply.KeyOf(box))
		return nil
	}
	if _, isKnown := r.StableRecords.Find(box); isKnown {
		return nil
	}
	live := modelboxrender.Live{Workload: r.CachedWorkload(box)}
	_, record := modelboxrender.StableBox(box, live)
	if record == "" {
		if live.Workload, err = r.GetWorkload(ctx, box); err != nil {
			return err
		}
		_, record = modelboxrender.StableBox(box, live)
	}
	r.StableRecords.remember(box, record)
	return nil
}

// CachedWorkload returns the workload of the box in the cache, nil if there is none.
func (r *Reconciler) CachedWorkload(box *modelv1.ModelBox) metav1.Object {
	for _, kind := range r.kinds {
		if kind.GroupVersionKind != modelboxrender.WorkloadKind(box) {
			continue
		}
		if cached, exists, err := kind.Informer.GetIndexer().GetByKey(apply.KeyOf(box).String()); err == nil && exists {
			return cached.(metav1.Object)
		}
	}
	return nil
}

// needsStableRecord returns whether the box may be rolled back, or is, to other pods than it asks for.
func needsStableRecord(box *modelv1.ModelBox, podsHash podsHashFunc) (bool, error) {
	rollout := box.Status.Rollout
	if box.Spec.Rollout == nil || box.Spec.Paused || rollout == nil || rollout.Stable == nil ||
		!modelboxrender.KeepsStable(box) && rollout.Phase != modelv1.RolloutRolledBack {
		return false, nil
	}
	hash, err := podsHash()
	if err != nil {
		return false, fmt.Errorf("rendering the pods: %w", err)
	}
	return hash != rollout.Stable.PodsHash, nil
}

// GetWorkload reads the workload of the box from the cluster. It returns nil if there is none.
func (r *Reconciler) GetWorkload(ctx context.Context, box *modelv1.ModelBox) (metav1.Object, error) {
	workload, err := timeout.Request(ctx, func(ctx context.Context) (metav1.Object, error) {
		apps, options := r.kubeClient.AppsV1(), metav1.GetOptions{}
		switch box.Spec.Workload {
		case modelv1.WorkloadStatefulSet:
			return apps.StatefulSets(box.Namespace).Get(ctx, box.Name, options)
		case modelv1.WorkloadDaemonSet:
			return apps.DaemonSets(box.Namespace).Get(ctx, box.Name, options)
		default:
			return apps.Deployments(box.Namespace).Get(ctx, box.Name, options)
		}
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record on %s %s: %w", box.Spec.Workload, box.Name, err)
	}
	return workload, nil
}
