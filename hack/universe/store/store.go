// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package store stores the objects of an API server in memory, and decides when its watches deliver changes.
package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// firstRevision is the revision of an empty store. The first write has the next one.
const firstRevision = 1

// Store stores the objects of all resources of an API server as etcd does: encoded, and with one revision for all keys.
type Store struct {
	mu sync.Mutex
	contents
	compacted int64
	clusterID uint64
	changes   []Change
	watches   []*Watch
	opened    int
	// lastLease is the ID of the last lease of a client of etcd.
	lastLease int64
	onWrite   func(Change)
}

// contents are what a store has at one revision.
type contents struct {
	revision int64
	entries  map[string]*entry
	// keys are the keys of entries, sorted.
	keys []string
	// values are what clients of etcd have written beside the objects.
	values map[string]value
}

func newContents() contents {
	return contents{revision: firstRevision, entries: map[string]*entry{}, values: map[string]value{}}
}

func (c contents) clone() contents {
	return contents{c.revision, maps.Clone(c.entries), slices.Clone(c.keys), maps.Clone(c.values)}
}

// entry is a stored object. It never changes.
type entry struct {
	data     []byte
	object   runtime.Object
	revision int64
}

// Change is a write. Before is nil for a creation, and After is nil for a deletion. The objects must not be changed.
type Change struct {
	Key      string
	Revision int64
	Before   runtime.Object
	After    runtime.Object
}

// New returns an empty store.
func New() *Store {
	s := &Store{}
	s.Reset(nil)
	return s
}

// Reset removes all objects and watches. From now on, the store calls onWrite with each write, if it is not nil.
func (s *Store) Reset(onWrite func(Change)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contents, s.changes, s.watches = newContents(), nil, nil
	s.compacted, s.clusterID, s.opened = 0, 1, 0
	s.onWrite = onWrite
}

// Revision returns the revision of the last write.
func (s *Store) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Compact forgets all changes until now. A client that watches from an earlier revision must list again.
func (s *Store) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted, s.changes = s.revision, nil
}

// Watches returns the open watches in the order in which they were opened.
func (s *Store) Watches() []*Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.watches)
}

// Objects returns the objects whose keys begin with the prefix, sorted by their keys. The objects must not be changed.
func (s *Store) Objects(prefix string) []runtime.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var objects []runtime.Object
	for _, key := range s.keysWith(prefix) {
		objects = append(objects, s.entries[key].object)
	}
	return objects
}

// Object returns the object at the key, nil if there is none. It must not be changed.
func (s *Store) Object(key string) runtime.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry := s.entries[key]; entry != nil {
		return entry.object
	}
	return nil
}

// Decorator returns the decorator that makes registries store their objects in the store.
func (s *Store) Decorator() generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, prefix string, _ func(runtime.Object) (string, error), newObject func() runtime.Object,
		_ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		return &resource{store: s, prefix: strings.TrimSuffix(prefix, "/") + "/", codec: config.Codec, newObject: newObject}, func() {}, nil
	}
}

// keysWith returns the keys that begin with the prefix. The caller holds the lock.
func (s *Store) keysWith(prefix string) []string {
	first, _ := slices.BinarySearch(s.keys, prefix)
	last := first
	for last < len(s.keys) && strings.HasPrefix(s.keys[last], prefix) {
		last++
	}
	return s.keys[first:last]
}

// replace stores the object that data decodes to, or removes what is there if data is nil. It returns the change, and nil if something
// else than the expected entry is there.
func (s *Store) replace(r *resource, key string, expected *entry, data []byte) (*Change, error) {
	s.mu.Lock()
	if s.entries[key] != expected {
		s.mu.Unlock()
		return nil, nil
	}
	change, err := s.write(r, key, data)
	onWrite := s.onWrite
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if onWrite != nil {
		onWrite(change)
	}
	return &change, nil
}

// write does what replace does. The caller holds the lock.
func (s *Store) write(r *resource, key string, data []byte) (Change, error) {
	revision := s.revision + 1
	before := s.entries[key]
	change := Change{Key: key, Revision: revision}
	if before != nil {
		change.Before = before.object
	}
	if data == nil {
		delete(s.entries, key)
		if i, found := slices.BinarySearch(s.keys, key); found {
			s.keys = slices.Delete(s.keys, i, i+1)
		}
	} else {
		object, err := r.decode(data, revision)
		if err != nil {
			return Change{}, err
		}
		change.After = object
		s.entries[key] = &entry{data, object, revision}
		if i, found := slices.BinarySearch(s.keys, key); !found {
			s.keys = slices.Insert(s.keys, i, key)
		}
	}
	s.revision = revision
	s.changes = append(s.changes, change)
	for _, watch := range s.watches {
		watch.offer(change)
	}
	return change, nil
}

// resource is the storage of one resource.
type resource struct {
	store     *Store
	prefix    string
	codec     runtime.Codec
	newObject func() runtime.Object
}

var _ storage.Interface = &resource{}

var versioner = storage.APIObjectVersioner{}

func (r *resource) Versioner() storage.Versioner { return versioner }

func (r *resource) Create(_ context.Context, key string, object, out runtime.Object, _ uint64) error {
	key, err := storage.PrepareKey(r.prefix, key, false)
	if err != nil {
		return err
	}
	if version, err := versioner.ObjectResourceVersion(object); err == nil && version != 0 {
		return storage.ErrResourceVersionSetOnCreate
	}
	if err := versioner.PrepareObjectForStorage(object); err != nil {
		return fmt.Errorf("preparing %s for the store: %w", key, err)
	}
	data, err := runtime.Encode(r.codec, object)
	if err != nil {
		return err
	}
	change, err := r.store.replace(r, key, nil, data)
	switch {
	case err != nil:
		return err
	case change == nil:
		return storage.NewKeyExistsError(key, 0)
	case out == nil:
		return nil
	}
	return copyInto(out, change.After)
}

func (r *resource) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions) error {
	key, err := storage.PrepareKey(r.prefix, key, false)
	if err != nil {
		return err
	}
	for {
		current, _ := r.get(key)
		if current == nil {
			return storage.NewKeyNotFoundError(key, 0)
		}
		if err := preconditions.Check(key, current.object); err != nil {
			return err
		}
		if err := validate(ctx, current.object); err != nil {
			return err
		}
		change, err := r.store.replace(r, key, current, nil)
		if err != nil {
			return err
		}
		if change != nil {
			if err := copyInto(out, current.object); err != nil {
				return err
			}
			return versioner.UpdateObject(out, uint64(change.Revision))
		}
	}
}

func (r *resource) Get(_ context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	key, err := storage.PrepareKey(r.prefix, key, false)
	if err != nil {
		return err
	}
	current, revision := r.get(key)
	if err := validateMinimum(opts.ResourceVersion, revision); err != nil {
		return err
	}
	switch {
	case current != nil:
		return copyInto(out, current.object)
	case opts.IgnoreNotFound:
		return runtime.SetZeroValue(out)
	default:
		return storage.NewKeyNotFoundError(key, 0)
	}
}

// get returns what is at the key, nil if nothing, and the revision of the store.
func (r *resource) get(key string) (*entry, int64) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.store.entries[key], r.store.revision
}

func (r *resource) GetList(_ context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	prefix, err := storage.PrepareKey(r.prefix, key, opts.Recursive)
	if err != nil {
		return err
	}
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	if err := validateMinimum(opts.ResourceVersion, r.store.revision); err != nil {
		return err
	}
	_, after, err := storage.ValidateListOptions(prefix, versioner, opts)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(items).Elem()
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	var last string
	hasMore := false
	for _, key := range r.keysOf(prefix, opts.Recursive) {
		if key < after {
			continue
		}
		if limit := opts.Predicate.Limit; limit > 0 && int64(v.Len()) >= limit {
			hasMore = true
			break
		}
		last = key
		object := r.store.entries[key].object
		if matches, err := opts.Predicate.Matches(object); err != nil || !matches {
			continue
		}
		v.Set(reflect.Append(v, reflect.ValueOf(object.DeepCopyObject()).Elem()))
	}
	token := ""
	if hasMore {
		// Lists continue with the present state, as after a compaction.
		if token, err = storage.EncodeContinue(last+"\x00", prefix, -1); err != nil {
			return err
		}
	}
	return versioner.UpdateList(list, uint64(r.store.revision), token, nil)
}

func (r *resource) keysOf(key string, recursive bool) []string {
	switch {
	case recursive:
		return r.store.keysWith(key)
	case r.store.entries[key] != nil:
		return []string{key}
	default:
		return nil
	}
}

func (r *resource) GuaranteedUpdate(_ context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, _ runtime.Object) error {
	key, err := storage.PrepareKey(r.prefix, key, false)
	if err != nil {
		return err
	}
	for {
		current, _ := r.get(key)
		input, revision := r.newObject(), uint64(0)
		if current != nil {
			input = current.object.DeepCopyObject()
			if revision, err = versioner.ObjectResourceVersion(input); err != nil {
				return err
			}
		} else if !ignoreNotFound {
			return storage.NewKeyNotFoundError(key, 0)
		}
		if err := preconditions.Check(key, input); err != nil {
			return err
		}
		updated, _, err := tryUpdate(input, storage.ResponseMeta{ResourceVersion: revision})
		if err != nil {
			return err
		}
		if err := versioner.PrepareObjectForStorage(updated); err != nil {
			return fmt.Errorf("preparing %s for the store: %w", key, err)
		}
		data, err := runtime.Encode(r.codec, updated)
		if err != nil {
			return err
		}
		if current != nil && bytes.Equal(data, current.data) {
			return copyInto(destination, current.object)
		}
		change, err := r.store.replace(r, key, current, data)
		if err != nil {
			return err
		}
		if change != nil {
			return copyInto(destination, change.After)
		}
	}
}

func (r *resource) Stats(context.Context) (storage.Stats, error) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return storage.Stats{ObjectCount: int64(len(r.store.keysWith(r.prefix)))}, nil
}

func (r *resource) ReadinessCheck() error                                 { return nil }
func (r *resource) RequestWatchProgress(context.Context) error            { return nil }
func (r *resource) EnableResourceSizeEstimation(_ storage.KeysFunc) error { return nil }

func (r *resource) GetCurrentResourceVersion(context.Context) (uint64, error) {
	return uint64(r.store.Revision()), nil
}

func (r *resource) CompactRevision() int64 {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.store.compacted
}

func (r *resource) decode(data []byte, revision int64) (runtime.Object, error) {
	object, err := runtime.Decode(r.codec, data)
	if err != nil {
		return nil, err
	}
	return object, versioner.UpdateObject(object, uint64(revision))
}

// validateMinimum returns the error of a read that asks for a revision that the store does not have yet.
func validateMinimum(resourceVersion string, revision int64) error {
	minimum, err := versioner.ParseResourceVersion(resourceVersion)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", err))
	}
	if minimum > uint64(revision) {
		return storage.NewTooLargeResourceVersionError(minimum, uint64(revision), 0)
	}
	return nil
}

// copyInto makes out a copy of the object.
func copyInto(out, object runtime.Object) error {
	to, from := reflect.ValueOf(out), reflect.ValueOf(object.DeepCopyObject())
	if to.Type() != from.Type() {
		return fmt.Errorf("%T is read into %T", object, out)
	}
	to.Elem().Set(from.Elem())
	return nil
}
