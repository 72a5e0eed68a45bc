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
	// writesAtOnce is how many objects are written at a time: the store writes several to its disk as fast as one.
	writesAtOnce = 16
	// writtenBytes is how much memory they take together, as package decodedsize estimates it.
	writtenBytes = 64 << 20
)

// outcome is what a recovery has done about the objects of a kind.
type outcome struct {
	mu sync.Mutex
	// objects are counted by what was done about them.
	objects map[action]int
	// orphans are children of objects that are neither stored nor recorded.
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

// addOrphan takes note of a child whose controller cannot be restored, and why.
func (r *recoverer) addOrphan(ctx context.Context, child child, reason error) {
	klog.FromContext(ctx).Error(reason, "The owner of a child is neither in the store nor recorded",
		"child", child.String(), "kind", r.objects.noun, "owner", child.ownerName(), "uid", child.owner.UID)
	r.outcome.mu.Lock()
	defer r.outcome.mu.Unlock()
	r.outcome.orphans = append(r.outcome.orphans, newOrphan(r.objects.kind, child))
}

// recoverer brings the objects of a kind in a store up to date with what the cluster says. Doing it again does nothing.
type recoverer struct {
	situation Situation
	objects   *objects
	cluster   *cluster

	// stored are the objects that were in the store before, and instead of them those that are restored.
	stored map[types.NamespacedName]summary
	// exist are the UIDs of the objects that are there or recorded, and replaced of those that were there, of whatever kind.
	exist, replaced sets.Set[types.UID]
	// haveChildren are the UIDs of those that have any.
	haveChildren sets.Set[types.UID]
	// owned are objects that others own, for the end: an owner may be recorded after what it owns.
	owned map[types.NamespacedName]restoration
	// next are to be written together.
	next    []restoration
	outcome *outcome
}

// restoration is a recorded object that is to be written. It keeps the record, and not the object: users who can write children
// decide how much memory that takes, and how many there are.
type restoration struct {
	do       action
	record   metav1.Object
	replaced types.UID
	// memory is how many bytes the object takes while it is being written.
	memory int64
}

// newRecoverer returns one that shares what it knows of owners with those of other kinds.
func newRecoverer(ctx context.Context, situation Situation, objects *objects, cluster *cluster, exist, replaced sets.Set[types.UID]) (*recoverer, error) {
	stored, err := objects.summaries(ctx)
	if err != nil {
		return nil, err
	}
	for _, object := range stored {
		if !object.IsCorrupt {
			exist.Insert(object.UID)
		}
	}
	return &recoverer{
		situation: situation, objects: objects, cluster: cluster, stored: stored,
		exist: exist, replaced: replaced, haveChildren: sets.New[types.UID](), owned: map[types.NamespacedName]restoration{},
		outcome: &outcome{objects: map[action]int{}},
	}, nil
}

// restoreAll restores the recorded objects that no others own.
func (r *recoverer) restoreAll(ctx context.Context) error {
	if err := r.objects.eachRecord(ctx, r.cluster, func(child child) error { return r.restore(ctx, child) }); err != nil {
		return err
	}
	return r.write(ctx)
}

// restore sees to the object that controls a child. Two objects of a name may be recorded, each on a child of its own: the one
// of which is garbage that was deleted before the other was created. So may one object twice, of which the later record counts.
func (r *recoverer) restore(ctx context.Context, child child) error {
	r.haveChildren.Insert(child.owner.UID)
	name := child.ownerName()
	var stored *summary
	if found, isStored := r.stored[name]; isStored {
		stored = &found
	}
	// Which object it is cannot be told. It stays as it is.
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
		r.exist.Delete(stored.UID)
		r.replaced.Insert(stored.UID)
	}
	r.exist.Insert(record.GetUID())
	r.stored[name] = summary{
		UID: record.GetUID(), Generation: record.GetGeneration(), Created: record.GetCreationTimestamp(),
		Owners: ownOwners(record), IsRestored: true, Recorded: recorded,
	}
	if earlier, isPending := r.owned[name]; isPending {
		restored.do, restored.replaced = earlier.do, earlier.replaced
		delete(r.owned, name)
	} else if isAgain {
		// What is to be updated or replaced may be among those that are to be created.
		if err := r.write(ctx); err != nil {
			return err
		}
	}
	if len(ownOwners(record)) > 0 {
		r.owned[name] = restored
		return nil
	}
	if r.next = append(r.next, restored); len(r.next) < childrenPerPage {
		return nil
	}
	return r.write(ctx)
}

// restoreOwned restores the recorded objects that others own, with the owners that exist, and leaves those in the store without
// the owners that were replaced. What belonged to those would be deleted.
func (r *recoverer) restoreOwned(ctx context.Context) error {
	r.next = slices.AppendSeq(r.next, maps.Values(r.owned))
	clear(r.owned)
	if err := r.write(ctx); err != nil {
		return err
	}
	for name, stored := range r.stored {
		if stored.IsRestored || !slices.ContainsFunc(stored.Owners, r.replaced.Has) {
			continue
		}
		if err := r.objects.orphan(ctx, name, stored.UID, r.exist.Has); err != nil {
			return err
		}
		klog.FromContext(ctx).Info("An owner in the store was replaced, and what it owned stays without it", "kind", r.objects.noun, "object", name, "uid", stored.UID)
	}
	return nil
}

// write writes the objects that are next, as many at a time as there is memory for.
func (r *recoverer) write(ctx context.Context) error {
	next := r.next
	r.next = nil
	errs := make([]error, len(next))
	memory := semaphore.NewWeighted(writtenBytes)
	workqueue.ParallelizeUntil(ctx, writesAtOnce, len(next), func(i int) {
		taken := min(next[i].memory, writtenBytes)
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
	object, err := r.objects.fromRecord(record)
	if err != nil {
		return err
	}
	dropOwners(object, r.exist.Has) // those of what others own are known by now
	done := restored.do
	logger := klog.FromContext(ctx).WithValues("kind", r.objects.noun, "object", klog.KObj(object), "uid", object.GetUID(), "generation", object.GetGeneration())
	switch restored.do {
	case update:
		isChanged, err := r.objects.update(ctx, object)
		if err != nil {
			return err
		}
		if !isChanged {
			done = keep
			break
		}
		logger.Info("An object in the store was older than its record, and was brought up to date")
	case replace:
		if err := r.objects.remove(ctx, nameOf(object), restored.replaced); err != nil {
			return err
		}
		logger.Info("An object in the store was replaced by the one that is recorded", "replaced", restored.replaced)
		fallthrough
	default:
		if err := r.objects.create(ctx, object); err != nil {
			return err
		}
		logger.V(2).Info("An object was restored from its record")
	}
	r.add(done)
	return nil
}

// removeDeleted removes objects that the store only has because it is older than their deletion.
func (r *recoverer) removeDeleted(ctx context.Context) error {
	for name, stored := range r.stored {
		if !wasDeleted(r.situation, stored, r.haveChildren.Has(stored.UID)) {
			continue
		}
		if err := r.objects.remove(ctx, name, stored.UID); err != nil {
			return err
		}
		delete(r.stored, name)
		klog.FromContext(ctx).Info("An object in the store was removed: it had been deleted since", "kind", r.objects.noun, "object", name, "uid", stored.UID)
		r.add(remove)
	}
	return nil
}
