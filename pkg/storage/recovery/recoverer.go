// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

const (
	// writesAtOnce is how many boxes are written at a time: the store writes several to its disk as fast as one.
	writesAtOnce = 16
	// maxNamed is how many workloads an error names.
	maxNamed = 10
)

// outcome is what a recovery has done.
type outcome struct {
	mu sync.Mutex
	// boxes are counted by what was done about them.
	boxes map[action]int
	// lost are workloads whose boxes are neither stored nor recorded, and lostServices are Services whose stacks are not
	// stored.
	lost, lostServices []string
}

func (o *outcome) add(done action) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.boxes[done]++
	if done != keep {
		recoveredBoxes.WithLabelValues(string(done)).Inc()
	}
}

// recoverer brings the boxes in a store up to date with what the cluster says. Doing it again does nothing.
type recoverer struct {
	situation Situation
	boxes     *boxes
	cluster   metadata.Interface

	// stored are the boxes that were in the store before, and instead of them those that are restored.
	stored map[types.NamespacedName]summary
	// exist are the UIDs of the stacks that are in the store, and of the boxes that are there or recorded; haveChildren of the
	// boxes that have any.
	exist, haveChildren sets.Set[types.UID]
	// owned are boxes that stacks or boxes own, for the end: an owner may be recorded after what it owns.
	owned map[types.NamespacedName]restoration
	// next are to be written together.
	next    []restoration
	outcome *outcome
}

// restoration is a recorded box that is to be written.
type restoration struct {
	do       action
	box      *model.ModelBox
	replaced types.UID
}

// recoverBoxes returns what it has done, or an error that may come after a part of it.
func recoverBoxes(ctx context.Context, situation Situation, boxes *boxes, stacks sets.Set[types.UID], cluster metadata.Interface) (*outcome, error) {
	stored, err := boxes.summaries(ctx)
	if err != nil {
		return nil, err
	}
	r := &recoverer{
		situation: situation, boxes: boxes, cluster: cluster, stored: stored,
		exist: stacks.Clone(), haveChildren: sets.New[types.UID](), owned: map[types.NamespacedName]restoration{},
		outcome: &outcome{boxes: map[action]int{}},
	}
	for _, box := range stored {
		r.exist.Insert(box.UID)
	}
	for _, resource := range workloads {
		if err := eachChild(ctx, cluster, resource, func(workload child) error { return r.restore(ctx, workload) }); err != nil {
			return nil, err
		}
		if err := r.write(ctx); err != nil {
			return nil, err
		}
	}
	for _, owned := range r.owned {
		dropOwners(owned.box, r.exist.Has)
		r.next = append(r.next, owned)
	}
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	if err := r.removeDeleted(ctx); err != nil {
		return nil, err
	}
	if r.outcome.lostServices, err = lostServices(ctx, cluster, stacks.Has); err != nil {
		return nil, err
	}
	return r.outcome, nil
}

// restore sees to the box that controls a workload. Two boxes of a name may be recorded, each on a workload of another
// kind: the one of which is garbage that was deleted before the other was created.
func (r *recoverer) restore(ctx context.Context, workload child) error {
	r.haveChildren.Insert(workload.owner.UID)
	name := workload.box()
	var stored *summary
	if found, isStored := r.stored[name]; isStored {
		stored = &found
	}
	record, err := workload.record()
	if err != nil {
		if stored != nil && stored.UID == workload.owner.UID {
			r.outcome.add(keep)
			return nil
		}
		klog.FromContext(ctx).Error(err, "The box of a workload is neither in the store nor recorded", "resource", workload.resource, "workload", klog.KObj(workload), "box", klog.KRef(name.Namespace, name.Name), "uid", workload.owner.UID)
		r.outcome.lost = append(r.outcome.lost, fmt.Sprintf("%s %s/%s", workload.resource, workload.Namespace, workload.Name))
		return nil
	}
	restored := restoration{do: merge(r.situation, stored, record)}
	if restored.do == keep {
		r.outcome.add(keep)
		return nil
	}
	if restored.do == replace {
		restored.replaced = stored.UID
		r.exist.Delete(stored.UID)
	}
	if restored.box, err = newBox(record); err != nil {
		return err
	}
	r.exist.Insert(restored.box.UID)
	r.stored[name] = summary{UID: record.UID, Generation: record.Generation, Created: record.CreationTimestamp, IsRestored: true}
	if earlier, isPending := r.owned[name]; isPending {
		restored.do, restored.replaced = earlier.do, earlier.replaced
		delete(r.owned, name)
	}
	if hasOwnOwners(restored.box) {
		r.owned[name] = restored
		return nil
	}
	if r.next = append(r.next, restored); len(r.next) < childrenPerPage {
		return nil
	}
	return r.write(ctx)
}

// write writes the boxes that are next.
func (r *recoverer) write(ctx context.Context) error {
	next := r.next
	r.next = nil
	errs := make([]error, len(next))
	workqueue.ParallelizeUntil(ctx, writesAtOnce, len(next), func(i int) { errs[i] = r.writeOne(ctx, next[i]) })
	return errors.Join(append(errs, ctx.Err())...)
}

func (r *recoverer) writeOne(ctx context.Context, restored restoration) error {
	box, done := restored.box, restored.do
	logger := klog.FromContext(ctx).WithValues("box", klog.KObj(box), "uid", box.UID, "generation", box.Generation)
	switch restored.do {
	case update:
		isChanged, err := r.boxes.update(ctx, box)
		if err != nil {
			return err
		}
		if !isChanged {
			done = keep
			break
		}
		logger.Info("A box in the store was older than its record, and was brought up to date")
	case replace:
		if err := r.boxes.remove(ctx, types.NamespacedName{Namespace: box.Namespace, Name: box.Name}, restored.replaced); err != nil {
			return err
		}
		logger.Info("A box in the store was replaced by the one that is recorded", "replaced", restored.replaced)
		fallthrough
	default:
		if err := r.boxes.create(ctx, box); err != nil {
			return err
		}
		logger.V(2).Info("A box was restored from its record")
	}
	r.outcome.add(done)
	return nil
}

// removeDeleted removes boxes that the store only has because it is older than their deletion.
func (r *recoverer) removeDeleted(ctx context.Context) error {
	if r.situation != Behind {
		return nil
	}
	for _, resource := range []schema.GroupVersionResource{services, configMaps} {
		if err := eachChild(ctx, r.cluster, resource, func(child child) error {
			r.haveChildren.Insert(child.owner.UID)
			return nil
		}); err != nil {
			return err
		}
	}
	for name, stored := range r.stored {
		if !wasDeleted(r.situation, stored, r.haveChildren.Has(stored.UID)) {
			continue
		}
		if err := r.boxes.remove(ctx, name, stored.UID); err != nil {
			return err
		}
		klog.FromContext(ctx).Info("A box in the store was removed: it had been deleted since", "box", klog.KRef(name.Namespace, name.Name), "uid", stored.UID)
		r.outcome.add(remove)
	}
	return nil
}

// lostError says which applications would be deleted if the server served now; nil for none.
func (o *outcome) lostError() error {
	if len(o.lostServices) > 0 {
		return fmt.Errorf("%d Services are controlled by stacks that are not in the store, and would be deleted. "+
			"Restore a snapshot that has these stacks, or take the owner references off the Services that are to stay, or let them be deleted with --store-recovery=ignore. "+
			"They are, up to %d of them: %s", len(o.lostServices), maxNamed, strings.Join(o.lostServices[:min(len(o.lostServices), maxNamed)], ", "))
	}
	if len(o.lost) == 0 {
		return nil
	}
	return fmt.Errorf("%d workloads are controlled by boxes that are neither in the store nor recorded, and would be deleted. "+
		"Restore a snapshot that has these boxes, or take the owner references off the workloads that are to stay, or let them be deleted with --store-recovery=ignore. "+
		"They are, up to %d of them: %s", len(o.lost), maxNamed, strings.Join(o.lost[:min(len(o.lost), maxNamed)], ", "))
}
