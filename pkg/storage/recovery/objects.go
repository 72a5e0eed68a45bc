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

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// objectsPerPage bounds the memory that a list of objects takes, which may be of half a megabyte each.
	objectsPerPage = 100

	// keepReplaced is how long what was replaced or removed can be had back.
	keepReplaced = 30 * 24 * time.Hour
)

// summary is what a recovery remembers of a stored object.
type summary struct {
	UID        types.UID
	Generation int64
	Created    metav1.Time
	// Owners are those of this API group.
	Owners []types.UID
	// IsApplied is whether the object had children that were what it says.
	IsApplied bool
	// IsDeleted is whether its deletion has begun.
	IsDeleted bool
	// IsRestored is whether it was recorded on a child and is restored from there, and Recorded when that child was created.
	IsRestored bool
	Recorded   metav1.Time
}

// objects are those of a kind in a store, read and written as the server does, past its REST strategies: those give a new
// object a UID of its own.
type objects struct {
	*kind
	storage storage.Interface
	destroy factory.DestroyFunc
	store   *Store
	// prefix of the keys for the storage, and of those in etcd.
	prefix, rawPrefix string
	// lease of what is kept of objects that were replaced; 0 before there is any.
	leaseMu sync.Mutex
	lease   clientv3.LeaseID
}

// openObjects returns objects that have to be closed.
func openObjects(kind *kind, store *Store, options generic.RESTOptions) (*objects, error) {
	prefix := path.Join("/", options.ResourcePrefix)
	raw, destroy, err := generic.NewRawStorage(options.StorageConfig,
		func() runtime.Object { return kind.newObject() }, kind.newList, prefix)
	if err != nil {
		return nil, fmt.Errorf("opening the storage of %s: %w", kind.plural, err)
	}
	return &objects{kind: kind, storage: raw, destroy: destroy, store: store, prefix: prefix, rawPrefix: path.Join("/", options.StorageConfig.Prefix, prefix)}, nil
}

func (o *objects) close() { o.destroy() }

func (o *objects) key(name types.NamespacedName) string {
	return o.prefix + "/" + name.Namespace + "/" + name.Name
}

func (o *objects) rawKey(name types.NamespacedName) string {
	return o.rawPrefix + "/" + name.Namespace + "/" + name.Name
}

// count returns how many there are.
func (o *objects) count(ctx context.Context) (int64, error) {
	response, err := o.store.client.Get(ctx, o.rawPrefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("counting the %s in the store: %w", o.plural, err)
	}
	return response.Count, nil
}

// summaries returns all objects.
func (o *objects) summaries(ctx context.Context) (map[types.NamespacedName]summary, error) {
	summaries := map[types.NamespacedName]summary{}
	err := o.each(ctx, func(stored object) {
		summaries[nameOf(stored)] = summary{
			UID:        stored.GetUID(),
			Generation: stored.GetGeneration(),
			Created:    stored.GetCreationTimestamp(),
			Owners:     ownOwners(stored),
			IsApplied:  meta.IsStatusConditionTrue(o.conditions(stored), modelv1.ConditionApplied),
			IsDeleted:  stored.GetDeletionTimestamp() != nil,
		}
	})
	return summaries, err
}

// each calls do for all objects. It returns an error when one of them cannot be read.
func (o *objects) each(ctx context.Context, do func(object)) error {
	predicate := storage.Everything
	predicate.Limit = objectsPerPage
	for {
		list := o.newList()
		if err := o.storage.GetList(ctx, o.prefix+"/", storage.ListOptions{Predicate: predicate, Recursive: true}, list); err != nil {
			return fmt.Errorf("listing the %s in the store: %w", o.plural, err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			do(item.(object))
			return nil
		}); err != nil {
			return err
		}
		if predicate.Continue = list.(metav1.ListInterface).GetContinue(); predicate.Continue == "" {
			return nil
		}
	}
}

func nameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// create adds an object as it is.
func (o *objects) create(ctx context.Context, created object) error {
	if err := o.storage.Create(ctx, o.key(nameOf(created)), created, o.newObject(), 0); err != nil {
		return fmt.Errorf("storing %s %s: %w", o.noun, nameOf(created), err)
	}
	return nil
}

// update gives the object of the same UID what another version of it says, status apart. It returns whether that was
// something else.
func (o *objects) update(ctx context.Context, recorded object) (bool, error) {
	return o.change(ctx, nameOf(recorded), recorded.GetUID(), func(stored object) object { return o.withRecorded(stored, recorded) })
}

// orphan takes the owners of this group off the object of that UID that do not exist.
func (o *objects) orphan(ctx context.Context, name types.NamespacedName, uid types.UID, exists func(types.UID) bool) error {
	_, err := o.change(ctx, name, uid, func(stored object) object {
		dropOwners(stored, exists)
		return stored
	})
	return err
}

// change stores the object of that UID as changed has it, who may change the one that it is given. It returns whether that is
// something else.
func (o *objects) change(ctx context.Context, name types.NamespacedName, uid types.UID, changed func(object) object) (bool, error) {
	isChanged := false
	err := o.storage.GuaranteedUpdate(ctx, o.key(name), o.newObject(), false, &storage.Preconditions{UID: &uid},
		func(input runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			stored := input.(object)
			wanted := changed(stored.DeepCopyObject().(object))
			if isChanged = !o.isSame(stored, wanted); !isChanged {
				return stored, nil, nil
			}
			if err := o.keep(ctx, name); err != nil {
				return nil, nil, err
			}
			return wanted, nil, nil
		}, nil)
	if err != nil {
		return false, fmt.Errorf("updating %s %s: %w", o.noun, name, err)
	}
	return isChanged, nil
}

// remove takes the object of that UID away.
func (o *objects) remove(ctx context.Context, name types.NamespacedName, uid types.UID) error {
	if err := o.keep(ctx, name); err != nil {
		return err
	}
	err := o.storage.Delete(ctx, o.key(name), o.newObject(), &storage.Preconditions{UID: &uid},
		storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
	if err != nil && !storage.IsNotFound(err) {
		return fmt.Errorf("removing %s %s: %w", o.noun, name, err)
	}
	return nil
}

// keep copies an object, as it is stored, to where it can be had back from for a while.
func (o *objects) keep(ctx context.Context, name types.NamespacedName) error {
	lease, err := o.keptLease(ctx)
	if err != nil {
		return err
	}
	response, err := o.store.client.Get(ctx, o.rawKey(name))
	if err != nil {
		return fmt.Errorf("reading what is stored of %s %s: %w", o.noun, name, err)
	}
	for _, pair := range response.Kvs {
		key := fmt.Sprintf("%s/%s/%s/%d", o.store.key(o.replacedDirectory), name.Namespace, name.Name, pair.ModRevision)
		if _, err := o.store.client.Put(ctx, key, string(pair.Value), clientv3.WithLease(lease)); err != nil {
			return fmt.Errorf("keeping what is stored of %s %s: %w", o.noun, name, err)
		}
	}
	return nil
}

// keptLease returns the lease that ends what is kept, one for all of it. Objects are written at the same time.
func (o *objects) keptLease(ctx context.Context) (clientv3.LeaseID, error) {
	o.leaseMu.Lock()
	defer o.leaseMu.Unlock()
	if o.lease == 0 {
		granted, err := o.store.client.Grant(ctx, int64(keepReplaced/time.Second))
		if err != nil {
			return 0, fmt.Errorf("limiting how long what is replaced is kept: %w", err)
		}
		o.lease = granted.ID
	}
	return o.lease, nil
}
