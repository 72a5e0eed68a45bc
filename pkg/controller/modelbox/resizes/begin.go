// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package resizes

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Begin finds out whether the box begins a resize, before its workload is written. It reads the workload from the cluster if the cached
// one, which may be nil, does not tell: a cache does not keep the record of the box. read returns the workload in the cluster with the
// state that it is rendered for.
func (r *Reconciler) Begin(ctx context.Context, box *modelv1.ModelBox, cached metav1.Object, read func(context.Context, *modelv1.ModelBox) (modelboxrender.Live, error)) error {
	r.begun.Forget(apply.KeyOf(box))
	mayBegin, err := modelboxrender.MayBeginResize(box, cached)
	if err != nil {
		return fmt.Errorf("comparing the resources of the pods: %w", err)
	}
	if !mayBegin {
		return nil
	}
	live, err := read(ctx, box)
	if err != nil {
		return err
	}
	begins, err := modelboxrender.BeginsResize(box, live)
	if err != nil {
		return fmt.Errorf("comparing the resources of the pods: %w", err)
	}
	if begins {
		r.begun.Set(apply.KeyOf(box), true)
	}
	return nil
}

// Begins returns whether the box begins a resize, as Begin has found out.
func (r *Reconciler) Begins(box *modelv1.ModelBox) bool {
	begins, _ := r.begun.Get(apply.KeyOf(box))
	return begins
}
