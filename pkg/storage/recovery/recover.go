// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
)

// recovered is the result of a recovery: how many objects of each kind it handled, by action.
type recovered struct {
	boxes, stacks, networks map[action]int
	// orphans are the children whose controller is neither stored nor recorded.
	orphans []orphan
}

// recoverObjects updates the objects in the store from the records in the cluster. After an error, some of the objects may
// already be updated. The next recovery continues from there.
func recoverObjects(ctx context.Context, situation Situation, contents *contents, cluster *cluster) (*recovered, error) {
	owners := newOwners()
	networks, err := newRecoverer(ctx, situation, contents.networks, cluster, owners)
	if err != nil {
		return nil, err
	}
	stacks, err := newRecoverer(ctx, situation, contents.stacks, cluster, owners)
	if err != nil {
		return nil, err
	}
	boxes, err := newRecoverer(ctx, situation, contents.boxes, cluster, owners)
	if err != nil {
		return nil, err
	}
	recoverers := []*recoverer{networks, stacks, boxes}
	for _, recoverer := range recoverers {
		if err := recoverer.restoreAll(ctx); err != nil {
			return nil, err
		}
	}
	// All owners are known now.
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
	// The Services of a stack are for its external components. restoreOwned has handled its boxes.
	for _, resource := range []schema.GroupVersionResource{services, endpointSlices} {
		if err := eachChildOfStack(ctx, cluster, resource, func(child child) error {
			if !owners.mayExist(child.GetNamespace(), child.owner) {
				done.orphans = append(done.orphans, newOrphan(stackKind, child))
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// removeDeleted removes the objects that were deleted after the revision of the store. It removes boxes before stacks, because a
// stack that owns a box was not deleted. It removes no Networks if the cluster no longer serves NetworkAttachmentDefinitions: then
// no Network has a child, deleted or not.
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
	for _, resource := range resourcesFor(childkinds.ProvesBox) {
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

// noteChild records that the owner of a child has a child, and therefore was not deleted.
func (r *recoverer) noteChild(child child) error {
	r.haveChildren.Insert(child.owner.UID)
	return nil
}
