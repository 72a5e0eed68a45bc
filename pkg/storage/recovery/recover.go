// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// recovered is what a recovery has done.
type recovered struct {
	boxes, stacks map[action]int
	// lost are children that would be deleted.
	lost []string
}

// recoverObjects brings stacks and boxes in a store up to date. It returns what it has done, or an error that may come after a
// part of it.
func recoverObjects(ctx context.Context, situation Situation, stacks, boxes *objects, cluster *cluster) (*recovered, error) {
	exist, replaced := sets.New[types.UID](), sets.New[types.UID]()
	stackRecoverer, err := newRecoverer(ctx, situation, stacks, cluster, exist, replaced)
	if err != nil {
		return nil, err
	}
	boxRecoverer, err := newRecoverer(ctx, situation, boxes, cluster, exist, replaced)
	if err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{
		stackRecoverer.restoreAll, boxRecoverer.restoreAll,
		// Now it is known which owners there are.
		stackRecoverer.restoreOwned, boxRecoverer.restoreOwned,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if situation == Behind {
		if err := removeDeleted(ctx, stackRecoverer, boxRecoverer, cluster); err != nil {
			return nil, err
		}
	}
	done := &recovered{boxes: boxRecoverer.outcome.objects, stacks: stackRecoverer.outcome.objects}
	done.lost = append(stackRecoverer.outcome.lost, boxRecoverer.outcome.lost...)
	// A Service of a stack leads to what is outside. Its boxes stay in any case.
	for _, resource := range []schema.GroupVersionResource{services, endpointSlices} {
		if err := eachChildOfStack(ctx, cluster, resource, func(child child) error {
			if !exist.Has(child.owner.UID) {
				done.lost = append(done.lost, child.String())
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// removeDeleted removes what was deleted after the store was as it is: the boxes first, since a stack that has one was not
// deleted.
func removeDeleted(ctx context.Context, stacks, boxes *recoverer, cluster *cluster) error {
	for _, resource := range []schema.GroupVersionResource{services, configMaps, ingresses, autoscalers, disruptionBudgets} {
		if err := eachChildOfBox(ctx, cluster, resource, boxes.noteChild); err != nil {
			return err
		}
	}
	if err := boxes.removeDeleted(ctx); err != nil {
		return err
	}
	for _, resource := range []schema.GroupVersionResource{services, endpointSlices} {
		if err := eachChildOfStack(ctx, cluster, resource, stacks.noteChild); err != nil {
			return err
		}
	}
	for _, box := range boxes.stored {
		stacks.haveChildren.Insert(box.Owners...)
	}
	return stacks.removeDeleted(ctx)
}

// noteChild takes note that the owner of a child has not been deleted.
func (r *recoverer) noteChild(child child) error {
	r.haveChildren.Insert(child.owner.UID)
	return nil
}
