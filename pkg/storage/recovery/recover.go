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
	boxes, stacks, networks map[action]int
	// orphans are children of objects that are neither stored nor recorded.
	orphans []orphan
}

// recoverObjects brings the contents of a store up to date. It returns what it has done, or an error that may come after a
// part of it.
func recoverObjects(ctx context.Context, situation Situation, contents *contents, cluster *cluster) (*recovered, error) {
	exist, replaced := sets.New[types.UID](), sets.New[types.UID]()
	networks, err := newRecoverer(ctx, situation, contents.networks, cluster, exist, replaced)
	if err != nil {
		return nil, err
	}
	stacks, err := newRecoverer(ctx, situation, contents.stacks, cluster, exist, replaced)
	if err != nil {
		return nil, err
	}
	boxes, err := newRecoverer(ctx, situation, contents.boxes, cluster, exist, replaced)
	if err != nil {
		return nil, err
	}
	recoverers := []*recoverer{networks, stacks, boxes}
	for _, recoverer := range recoverers {
		if err := recoverer.restoreAll(ctx); err != nil {
			return nil, err
		}
	}
	// Now it is known which owners there are.
	for _, recoverer := range recoverers {
		if err := recoverer.restoreOwned(ctx); err != nil {
			return nil, err
		}
	}
	if situation == Behind {
		if err := removeDeleted(ctx, networks, stacks, boxes, cluster); err != nil {
			return nil, err
		}
	}
	done := &recovered{boxes: boxes.outcome.objects, stacks: stacks.outcome.objects, networks: networks.outcome.objects}
	for _, recoverer := range recoverers {
		done.orphans = append(done.orphans, recoverer.outcome.orphans...)
	}
	// A Service of a stack leads to what is outside. Its boxes stay in any case.
	for _, resource := range []schema.GroupVersionResource{services, endpointSlices} {
		if err := eachChildOfStack(ctx, cluster, resource, func(child child) error {
			if !exist.Has(child.owner.UID) && !stacks.stored[child.ownerName()].IsCorrupt {
				done.orphans = append(done.orphans, newOrphan(stackKind, child))
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// removeDeleted removes what was deleted after the store was as it is: the boxes first, since a stack that has one was not
// deleted. Of networks nothing is known where the cluster has ceased to serve what they become.
func removeDeleted(ctx context.Context, networks, stacks, boxes *recoverer, cluster *cluster) error {
	isServed, err := servesDefinitions(ctx, cluster)
	if err != nil {
		return err
	}
	if isServed {
		if err := networks.removeDeleted(ctx); err != nil {
			return err
		}
	}
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
