// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// objectsPerPage limits the memory for a page of values. A value in etcd has at most 1.5 MiB. The values are decoded one at a
	// time.
	objectsPerPage = 100

	// keepReplaced is the time after which the copies of replaced and removed objects expire.
	keepReplaced = 30 * 24 * time.Hour
)

// summary has the fields of a stored object that a recovery needs.
type summary struct {
	UID        types.UID
	Generation int64
	Created    metav1.Time
	// Owners are the UIDs of the owners in this API group.
	Owners []types.UID
	// IsApplied is true if the condition Applied is True: the object had children that matched its spec.
	IsApplied bool
	// IsDeleted is true if the object is being deleted.
	IsDeleted bool
	// IsCorrupt is true if the object cannot be read. The other fields are then zero.
	IsCorrupt bool
	// IsRestored is true if the object was restored from a record. Recorded is the creation time of the child with the record.
	IsRestored bool
	Recorded   metav1.Time
}

// objects reads and writes the objects of one kind in a store. It bypasses the REST strategies, which would set a new UID.
type objects struct {
	*kind
	storage storage.Interface
	destroy factory.DestroyFunc
	store   *Store
	// transformer and codec decode stored values.
	transformer value.Transformer
	codec       runtime.Codec
	// prefix is the prefix of the keys in storage, and rawPrefix the prefix of the keys in etcd.
	prefix, rawPrefix string
	// lease is the lease of the copies of replaced objects, 0 before the first copy.
	leaseMu sync.Mutex
	lease   clientv3.LeaseID
}

// openObjects returns the objects of a kind. The caller must close them.
func openObjects(kind *kind, store *Store, options generic.RESTOptions) (*objects, error) {
	prefix := path.Join("/", options.ResourcePrefix)
	raw, destroy, err := options.Decorator(options.StorageConfig, prefix, nil,
		func() runtime.Object { return kind.newObject() }, kind.newList, nil, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("opening the storage of %s: %w", kind.plural, err)
	}
	transformer := options.StorageConfig.Transformer
	if transformer == nil {
		// The storage of etcd has the same default: it does not read encrypted values as plain values.
		transformer = identity.NewEncryptCheckTransformer()
	}
	return &objects{
		kind: kind, storage: raw, destroy: destroy, store: store, transformer: transformer, codec: options.StorageConfig.Codec,
		prefix: prefix, rawPrefix: path.Join("/", options.StorageConfig.Prefix, prefix),
	}, nil
}

func (o *objects) close() { o.destroy() }

func (o *objects) key(name types.NamespacedName) string {
	return o.prefix + "/" + name.Namespace + "/" + name.Name
}

func (o *objects) rawKey(name types.NamespacedName) string {
	return o.rawPrefix + "/" + name.Namespace + "/" + name.Name
}

// count returns the number of stored objects.
func (o *objects) count(ctx context.Context) (int64, error) {
	response, err := o.store.client.Get(ctx, o.rawPrefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("counting the %s in the store: %w", o.plural, err)
	}
	return response.Count, nil
}

// summaries returns the summaries of all stored objects.
func (o *objects) summaries(ctx context.Context) (map[types.NamespacedName]summary, error) {
	summaries := map[types.NamespacedName]summary{}
	err := o.each(ctx, func(entry entry) {
		summaries[entry.name] = o.summaryOf(entry)
	})
	return summaries, err
}

func (o *objects) summaryOf(entry entry) summary {
	stored := entry.object
	if entry.err != nil {
		return summary{IsCorrupt: true}
	}
	return summary{
		UID:        stored.GetUID(),
		Generation: stored.GetGeneration(),
		Created:    stored.GetCreationTimestamp(),
		Owners:     ownOwners(stored),
		IsApplied:  meta.IsStatusConditionTrue(o.conditions(stored), modelv1.ConditionApplied),
		IsDeleted:  stored.GetDeletionTimestamp() != nil,
	}
}

// summary returns the summary of the object with a name, and whether there is such an object.
func (o *objects) summary(ctx context.Context, name types.NamespacedName) (summary, bool, error) {
	response, err := o.store.client.Get(ctx, o.rawKey(name))
	if err != nil {
		return summary{}, false, fmt.Errorf("reading the stored value of %s %s: %w", o.noun, name, err)
	}
	if len(response.Kvs) == 0 {
		return summary{}, false, nil
	}
	return o.summaryOf(o.read(ctx, response.Kvs[0])), true, nil
}

// entry is a stored value.
type entry struct {
	name types.NamespacedName
	// value is the stored value, which may be compressed and encrypted.
	value []byte
	// object is nil if the value cannot be read. err is then the reason.
	object object
	err    error
}

// each calls visit for every stored value of the kind.
func (o *objects) each(ctx context.Context, visit func(entry)) error {
	prefix := o.rawPrefix + "/"
	from, revision := prefix, int64(0)
	for {
		response, err := o.store.client.Get(ctx, from,
			clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithLimit(objectsPerPage), clientv3.WithRev(revision))
		if err != nil {
			return fmt.Errorf("listing the %s in the store: %w", o.plural, err)
		}
		for _, pair := range response.Kvs {
			visit(o.read(ctx, pair))
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("listing the %s in the store: %w", o.plural, err)
		}
		if !response.More || len(response.Kvs) == 0 {
			return nil
		}
		from, revision = string(response.Kvs[len(response.Kvs)-1].Key)+"\x00", response.Header.Revision
	}
}

// read decodes a key and its value.
func (o *objects) read(ctx context.Context, pair *mvccpb.KeyValue) entry {
	namespace, name := path.Split(strings.TrimPrefix(string(pair.Key), o.rawPrefix+"/"))
	found := entry{name: types.NamespacedName{Namespace: strings.TrimSuffix(namespace, "/"), Name: name}, value: pair.Value}
	data, _, err := o.transformer.TransformFromStorage(ctx, pair.Value, value.DefaultContext(pair.Key))
	if err != nil {
		found.err = err
		return found
	}
	decoded, _, err := o.codec.Decode(data, nil, o.newObject())
	if err != nil {
		found.err = err
		return found
	}
	found.object = decoded.(object)
	return found
}

func nameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// create stores a new object without a change.
func (o *objects) create(ctx context.Context, created object) error {
	if err := o.storage.Create(ctx, o.key(nameOf(created)), created, o.newObject(), 0); err != nil {
		return fmt.Errorf("storing %s %s: %w", o.noun, nameOf(created), err)
	}
	return nil
}

// update copies the recorded fields to the stored object with the same UID, without owners that do not exist. It returns whether the
// stored object changed.
func (o *objects) update(ctx context.Context, recorded object, owners *owners) (bool, error) {
	return o.change(ctx, nameOf(recorded), recorded.GetUID(), func(stored object) object {
		updated := o.withRecorded(stored, recorded)
		owners.dropAbsent(updated)
		return updated
	})
}

// orphan removes the references to owners in this API group that do not exist from the stored object with the UID.
func (o *objects) orphan(ctx context.Context, name types.NamespacedName, uid types.UID, owners *owners) error {
	_, err := o.change(ctx, name, uid, func(stored object) object {
		owners.dropAbsent(stored)
		return stored
	})
	return err
}

// change updates the stored object with the UID to the result of changed, which may modify its argument. It returns whether the
// object changed.
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

// remove deletes the stored object with the UID. It returns no error if the object does not exist.
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

// keep copies the stored value of an object into the replacedDirectory, where it expires after keepReplaced.
func (o *objects) keep(ctx context.Context, name types.NamespacedName) error {
	lease, err := o.keptLease(ctx)
	if err != nil {
		return err
	}
	response, err := o.store.client.Get(ctx, o.rawKey(name))
	if err != nil {
		return fmt.Errorf("reading the stored value of %s %s: %w", o.noun, name, err)
	}
	for _, pair := range response.Kvs {
		key := fmt.Sprintf("%s/%s/%s/%d", o.store.key(o.replacedDirectory), name.Namespace, name.Name, pair.ModRevision)
		if _, err := o.store.client.Put(ctx, key, string(pair.Value), clientv3.WithLease(lease)); err != nil {
			return fmt.Errorf("copying the stored value of %s %s: %w", o.noun, name, err)
		}
	}
	return nil
}

// keptLease returns the lease of all copies. It is safe for concurrent use.
func (o *objects) keptLease(ctx context.Context) (clientv3.LeaseID, error) {
	o.leaseMu.Lock()
	defer o.leaseMu.Unlock()
	if o.lease == 0 {
		granted, err := o.store.client.Grant(ctx, int64(keepReplaced/time.Second))
		if err != nil {
			return 0, fmt.Errorf("granting the lease of the copies of replaced %s: %w", o.plural, err)
		}
		o.lease = granted.ID
	}
	return o.lease, nil
}
