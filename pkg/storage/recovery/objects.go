// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"path"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// boxesPerPage bounds the memory that a list of boxes takes, which may be of half a megabyte each.
	boxesPerPage = 100

	// keepReplaced is how long what was replaced or removed can be had back.
	keepReplaced = 30 * 24 * time.Hour
)

// summary is what a recovery remembers of a stored box.
type summary struct {
	UID        types.UID
	Generation int64
	Created    metav1.Time
	// IsApplied is whether the box had children that were what it says.
	IsApplied bool
	// IsDeleted is whether its deletion has begun.
	IsDeleted bool
	// IsRestored is whether it was recorded on a workload and is restored from there.
	IsRestored bool
}

// boxes are those in a store, read and written as the server does, past its REST strategies: those give a new box a UID
// of its own.
type boxes struct {
	storage storage.Interface
	destroy factory.DestroyFunc
	store   *Store
	// prefix of the keys for the storage, and of those in etcd.
	prefix, rawPrefix string
	// lease of what is kept of boxes that were replaced; 0 before there is any.
	leaseMu sync.Mutex
	lease   clientv3.LeaseID
}

// openBoxes has to be closed.
func openBoxes(store *Store, options generic.RESTOptions) (*boxes, error) {
	prefix := path.Join("/", options.ResourcePrefix)
	raw, destroy, err := generic.NewRawStorage(options.StorageConfig,
		func() runtime.Object { return &model.ModelBox{} }, func() runtime.Object { return &model.ModelBoxList{} }, prefix)
	if err != nil {
		return nil, fmt.Errorf("opening the storage of boxes: %w", err)
	}
	return &boxes{storage: raw, destroy: destroy, store: store, prefix: prefix, rawPrefix: path.Join("/", options.StorageConfig.Prefix, prefix)}, nil
}

func (b *boxes) close() { b.destroy() }

func (b *boxes) key(box types.NamespacedName) string {
	return b.prefix + "/" + box.Namespace + "/" + box.Name
}

func (b *boxes) rawKey(box types.NamespacedName) string {
	return b.rawPrefix + "/" + box.Namespace + "/" + box.Name
}

// count returns how many there are.
func (b *boxes) count(ctx context.Context) (int64, error) {
	response, err := b.store.client.Get(ctx, b.rawPrefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("counting the boxes in the store: %w", err)
	}
	return response.Count, nil
}

// summaries returns all boxes.
func (b *boxes) summaries(ctx context.Context) (map[types.NamespacedName]summary, error) {
	summaries := map[types.NamespacedName]summary{}
	predicate := storage.Everything
	predicate.Limit = boxesPerPage
	for {
		list := &model.ModelBoxList{}
		if err := b.storage.GetList(ctx, b.prefix+"/", storage.ListOptions{Predicate: predicate, Recursive: true}, list); err != nil {
			return nil, fmt.Errorf("listing the boxes in the store: %w", err)
		}
		for i := range list.Items {
			box := &list.Items[i]
			summaries[types.NamespacedName{Namespace: box.Namespace, Name: box.Name}] = summary{
				UID:        box.UID,
				Generation: box.Generation,
				Created:    box.CreationTimestamp,
				IsApplied:  meta.IsStatusConditionTrue(box.Status.Conditions, modelv1.ConditionApplied),
				IsDeleted:  box.DeletionTimestamp != nil,
			}
		}
		if list.Continue == "" {
			return summaries, nil
		}
		predicate.Continue = list.Continue
	}
}

// create adds a box as it is.
func (b *boxes) create(ctx context.Context, box *model.ModelBox) error {
	key := b.key(types.NamespacedName{Namespace: box.Namespace, Name: box.Name})
	if err := b.storage.Create(ctx, key, box, &model.ModelBox{}, 0); err != nil {
		return fmt.Errorf("storing box %s/%s: %w", box.Namespace, box.Name, err)
	}
	return nil
}

// update gives the box of the same UID what another version of it says, status apart. It returns whether that was
// something else.
func (b *boxes) update(ctx context.Context, box *model.ModelBox) (bool, error) {
	name := types.NamespacedName{Namespace: box.Namespace, Name: box.Name}
	isChanged := false
	uid := box.UID
	err := b.storage.GuaranteedUpdate(ctx, b.key(name), &model.ModelBox{}, false, &storage.Preconditions{UID: &uid},
		func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			stored := input.(*model.ModelBox)
			if isChanged = !isSameBox(stored, withRecorded(stored.DeepCopy(), box)); !isChanged {
				return stored, nil, nil
			}
			if err := b.keep(ctx, name); err != nil {
				return nil, nil, err
			}
			return withRecorded(stored, box), nil, nil
		}, nil)
	if err != nil {
		return false, fmt.Errorf("updating box %s: %w", name, err)
	}
	return isChanged, nil
}

// remove takes the box of that UID away.
func (b *boxes) remove(ctx context.Context, box types.NamespacedName, uid types.UID) error {
	if err := b.keep(ctx, box); err != nil {
		return err
	}
	err := b.storage.Delete(ctx, b.key(box), &model.ModelBox{}, &storage.Preconditions{UID: &uid},
		storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
	if err != nil && !storage.IsNotFound(err) {
		return fmt.Errorf("removing box %s: %w", box, err)
	}
	return nil
}

// keep copies a box, as it is stored, to where it can be had back from for a while.
func (b *boxes) keep(ctx context.Context, box types.NamespacedName) error {
	lease, err := b.keptLease(ctx)
	if err != nil {
		return err
	}
	response, err := b.store.client.Get(ctx, b.rawKey(box))
	if err != nil {
		return fmt.Errorf("reading what is stored of box %s: %w", box, err)
	}
	for _, pair := range response.Kvs {
		key := fmt.Sprintf("%s/%s/%s/%d", b.store.key("replaced"), box.Namespace, box.Name, pair.ModRevision)
		if _, err := b.store.client.Put(ctx, key, string(pair.Value), clientv3.WithLease(lease)); err != nil {
			return fmt.Errorf("keeping what is stored of box %s: %w", box, err)
		}
	}
	return nil
}

// keptLease returns the lease that ends what is kept, one for all of it. Boxes are written at the same time.
func (b *boxes) keptLease(ctx context.Context) (clientv3.LeaseID, error) {
	b.leaseMu.Lock()
	defer b.leaseMu.Unlock()
	if b.lease == 0 {
		granted, err := b.store.client.Grant(ctx, int64(keepReplaced/time.Second))
		if err != nil {
			return 0, fmt.Errorf("limiting how long what is replaced is kept: %w", err)
		}
		b.lease = granted.ID
	}
	return b.lease, nil
}
