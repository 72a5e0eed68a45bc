// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// concurrentWrites is the number of objects that are written concurrently. The store syncs several writes to its disk as fast
	// as one.
	concurrentWrites = 16
	// concurrentBytes limits the memory of these objects together, as package decodedsize estimates it.
	concurrentBytes = 64 << 20
)

// outcome is the result of a recovery for the objects of one kind.
type outcome struct {
	mu sync.Mutex
	// objects counts the objects by action.
	objects map[action]int
	// orphans are the children whose controller is neither stored nor recorded.
	orphans []orphan
}

func (r *recoverer) add(done action) {
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	r.outcome.objects[done]++
	if done != keep {
		r.objects.recovered.WithLabelValues(string(done)).Inc()
	}
}

// addOrphan adds a child whose controller cannot be restored, and logs the reason.
func (r *recoverer) addOrphan(ctx context.Context, child child, reason error) {
	klog.FromContext(ctx).Error(reason, "The owner of a child is not in the store and has no readable record",
		"child", child.String(), "kind", r.objects.noun, "owner", child.ownerName(), "uid", child.owner.UID)
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	r.outcome.orphans = append(r.outcome.orphans, newOrphan(r.objects.kind, child))
}

// recoverer updates the objects of one kind in the store from the records in the cluster. It is idempotent.
type recoverer struct {
	situation Situation
	objects   *objects
	cluster   *cluster

	// stored has the objects that were in the store before. A restored object replaces the object of its name.
	stored map[types.NamespacedName]summary
	// owners are the objects of all kinds. The recoverers of all kinds share them.
	owners *owners
	// haveChildren has the UIDs of the objects that have children.
	haveChildren sets.Set[types.UID]
	// owned has the objects with owners. They are written last, because the record of an owner may be listed after the records
	// of the objects that it owns.
	owned map[types.NamespacedName]restoration
	// next is the next batch of objects to write.
	next    []restoration
	outcome *outcome
}

// restoration is a recorded object that has to be written. It has the compressed record instead of the object: users who can write
// children control the number and the size of the objects.
type restoration struct {
	do       action
	record   metav1.Object
	replaced types.UID
	// memory is the estimated size of the decoded object in bytes.
	memory int64
}

// newRecoverer returns a recoverer for objects of one kind, and adds the stored objects to the owners.
func newRecoverer(ctx context.Context, situation Situation, objects *objects, cluster *cluster, owners *owners) (*recoverer, error) {
	stored, err := objects.summaries(ctx)
	if err != nil {
		return nil, err
	}
	for name, object := range stored {
		if object.IsCorrupt {
			owners.corrupt.Insert(corruptObject{objects.name, name})
		} else {
			owners.exist.Insert(object.UID)
		}
	}
	return &recoverer{
		situation: situation, objects: objects, cluster: cluster, stored: stored, owners: owners,
		haveChildren: sets.New[types.UID](), owned: map[types.NamespacedName]restoration{},
		outcome: &outcome{objects: map[action]int{}},
	}, nil
}

// restoreAll restores the recorded objects that have no owners of this API group.
func (r *recoverer) restoreAll(ctx context.Context) error {
	if err := r.objects.eachRecord(ctx, r.cluster, func(child child) error { return r.restore(ctx, child) }); err != nil {
		return err
	}
	return r.write(ctx)
}

// restore restores the object that controls a child. Two objects with the same name may be recorded on different children: the
// older object was deleted, and its child has not been garbage collected yet. One object may also be recorded twice. The later
// record wins.
func (r *recoverer) restore(ctx context.Context, child child) error {
	r.haveChildren.Insert(child.owner.UID)
	name := child.ownerName()
	var stored *summary
	if found, isStored := r.stored[name]; isStored {
		stored = &found
	}
	// The identity of a corrupt object is unknown. Keep it.
	if stored != nil && stored.IsCorrupt {
		r.add(keep)
		return nil
	}
	var memory int64
	record, err := r.objects.recordOn(child)
	if err == nil {
		memory, err = memoryOf(record)
	}
	if err != nil {
		if stored != nil && stored.UID == child.owner.UID {
			r.add(keep)
			return nil
		}
		r.addOrphan(ctx, child, err)
		return nil
	}
	isAgain := stored != nil && stored.IsRestored
	recorded := child.GetCreationTimestamp()
	if isAgain && stored.UID == record.GetUID() && stored.Generation == record.GetGeneration() && !stored.Recorded.Before(&recorded) {
		return nil
	}
	restored := restoration{do: merge(r.situation, stored, record), record: recordOnly(child.Object), memory: memory}
	if restored.do == keep {
		r.add(keep)
		return nil
	}
	if restored.do == replace {
		restored.replaced = stored.UID
		r.owners.exist.Delete(stored.UID)
		r.owners.replaced.Insert(stored.UID)
	}
	r.owners.exist.Insert(record.GetUID())
	if earlier, isPending := r.owned[name]; isPending {
		restored.do, restored.replaced = earlier.do, earlier.replaced
		delete(r.owned, name)
	} else if isAgain {
		// The earlier version may still be in the batch, to be created: write it before it is updated or replaced.
		if err := r.write(ctx); err != nil {
			return err
		}
	}
	owners := ownOwners(record)
	if restored.do == update && record.GetOwnerReferences() == nil {
		owners = stored.Owners // the update keeps them
	}
	r.stored[name] = summary{
		UID: record.GetUID(), Generation: record.GetGeneration(), Created: record.GetCreationTimestamp(),
		Owners: owners, IsRestored: true, Recorded: recorded,
	}
	if len(owners) > 0 {
		r.owned[name] = restored
		return nil
	}
	if r.next = append(r.next, restored); len(r.next) < childrenPerPage {
		return nil
	}
	return r.write(ctx)
}

// restoreOwned restores the recorded objects that have owners, without the owners that do not exist. It also removes the owners
// that were replaced from the objects in the store. The garbage collector would otherwise delete these objects.
func (r *recoverer) restoreOwned(ctx context.Context) error {
	r.next = slices.AppendSeq(r.next, maps.Values(r.owned))
	clear(r.owned)
	if err := r.write(ctx); err != nil {
		return err
	}
	for name, stored := range r.stored {
		if stored.IsRestored || !slices.ContainsFunc(stored.Owners, r.owners.replaced.Has) {
			continue
		}
		if err := r.objects.orphan(ctx, name, stored.UID, r.owners); err != nil {
			return err
		}
		klog.FromContext(ctx).Info("Replaced an owner in the store and orphaned its child", "kind", r.objects.noun, "object", name, "uid", stored.UID)
	}
	return nil
}

// write writes the batch, several objects concurrently, within the limit of memory.
func (r *recoverer) write(ctx context.Context) error {
	next := r.next
	r.next = nil
	errs := make([]error, len(next))
	memory := semaphore.NewWeighted(concurrentBytes)
	workqueue.ParallelizeUntil(ctx, concurrentWrites, len(next), func(i int) {
		taken := min(next[i].memory, concurrentBytes)
		if errs[i] = memory.Acquire(ctx, taken); errs[i] == nil {
			defer memory.Release(taken)
			errs[i] = r.writeOne(ctx, next[i])
		}
	})
	return errors.Join(append(errs, ctx.Err())...)
}

func (r *recoverer) writeOne(ctx context.Context, restored restoration) error {
	record, err := r.objects.readRecord(restored.record)
	if err != nil {
		return err
	}
	if r.objects.addLive != nil {
		if err := r.objects.addLive(ctx, r.cluster, restored.record, record); err != nil {
			return err
		}
	}
	object, err := r.objects.fromRecord(record)
	if err != nil {
		return err
	}
	r.owners.dropAbsent(object) // an object with owners is written after all owners are known
	done := restored.do
	logger := klog.FromContext(ctx).WithValues("kind", r.objects.noun, "object", klog.KObj(object), "uid", object.GetUID(), "generation", object.GetGeneration())
	switch restored.do {
	case update:
		isChanged, err := r.objects.update(ctx, object, r.owners)
		if err != nil {
			return err
		}
		if !isChanged {
			done = keep
			break
		}
		logger.Info("Updated an object in the store from its record")
	case replace:
		if err := r.objects.remove(ctx, nameOf(object), restored.replaced); err != nil {
			return err
		}
		logger.Info("Replaced an object in the store by the recorded object of the same name", "replaced", restored.replaced)
		fallthrough
	default:
		if err := r.objects.create(ctx, object); err != nil {
			return err
		}
		logger.V(2).Info("Created an object in the store from its record")
	}
	r.add(done)
	return nil
}

// removeDeleted removes the objects that were deleted after the revision of the store.
func (r *recoverer) removeDeleted(ctx context.Context) error {
	for name, stored := range r.stored {
		if !wasDeleted(r.situation, stored, r.haveChildren.Has(stored.UID)) {
			continue
		}
		if err := r.objects.remove(ctx, name, stored.UID); err != nil {
			return err
		}
		delete(r.stored, name)
		klog.FromContext(ctx).Info("Removed an object from the store: it was deleted after the revision of the store", "kind", r.objects.noun, "object", name, "uid", stored.UID)
		r.add(remove)
	}
	return nil
}
