// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage/value"
)

// copies returns the copies of former values of a kind in the store.
func (f *fixture) copies(kind *kind) []*mvccpb.KeyValue {
	f.t.Helper()
	response, err := f.store.client.Get(f.t.Context(), f.store.key(kind.replacedDirectory)+"/", clientv3.WithPrefix())
	if err != nil {
		f.t.Fatal(err)
	}
	return response.Kvs
}

func TestEveryPageOfObjectsIsReadOnce(t *testing.T) {
	for _, row := range []struct{ objects, pages int }{{0, 1}, {1, 1}, {objectsPerPage, 1}, {objectsPerPage + 1, 2}, {2*objectsPerPage + 1, 3}} {
		t.Run(fmt.Sprintf("%d objects", row.objects), func(t *testing.T) {
			f := newFixture(t)
			for i := range row.objects {
				name := fmt.Sprintf("box-%03d", i)
				key := f.boxes.rawKey(types.NamespacedName{Namespace: testNamespace, Name: name})
				if _, err := f.store.client.Put(t.Context(), key, string(storedBytes(t, box(name, types.UID(name))))); err != nil {
					t.Fatal(err)
				}
			}
			pages := 0
			f.hookRequests(func(context.Context, string, string) error { pages++; return nil })
			visited := map[types.NamespacedName]int{}
			if err := f.boxes.each(t.Context(), func(entry entry) {
				visited[entry.name]++
				if entry.err != nil || string(entry.object.GetUID()) != entry.name.Name {
					t.Errorf("%s: %v, %v", entry.name, entry.object, entry.err)
				}
			}); err != nil {
				t.Fatal(err)
			}
			if len(visited) != row.objects || pages != row.pages {
				t.Errorf("%d objects are read in %d pages, want %d in %d", len(visited), pages, row.objects, row.pages)
			}
			for name, count := range visited {
				if count != 1 {
					t.Errorf("%s is read %d times", name, count)
				}
			}
		})
	}
}

// flipped is an encryption for tests, which flips a bit of each byte.
type flipped struct{}

const flippedPrefix = encryptedPrefix + "flipped:v1:key:"

func (flipped) TransformFromStorage(_ context.Context, data []byte, _ value.Context) ([]byte, bool, error) {
	hidden, isHidden := bytes.CutPrefix(data, []byte(flippedPrefix))
	if !isHidden {
		return nil, false, errors.New("it is not encrypted")
	}
	return flip(hidden), false, nil
}

func (flipped) TransformToStorage(_ context.Context, data []byte, _ value.Context) ([]byte, error) {
	return append([]byte(flippedPrefix), flip(data)...), nil
}

func flip(data []byte) []byte {
	data = bytes.Clone(data)
	for i := range data {
		data[i] ^= 1
	}
	return data
}

func TestStoredValuesAreDecryptedAsTheStorageDecryptsThem(t *testing.T) {
	plain := string(storedBytes(t, box("web", "1")))
	encrypted, err := flipped{}.TransformToStorage(t.Context(), []byte(plain), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name        string
		transformer value.Transformer
		stored      string
		want        summary
	}{
		{"a plain value without encryption", nil, plain, summary{UID: "1", Generation: 1}},
		{"an encrypted value without encryption", nil, string(encrypted), summary{IsCorrupt: true}},
		{"an encrypted value with its key", flipped{}, string(encrypted), summary{UID: "1", Generation: 1}},
		{"a plain value with encryption", flipped{}, plain, summary{IsCorrupt: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t)
			options := f.config.Boxes
			config := *options.StorageConfig
			config.Transformer, options.StorageConfig = row.transformer, &config
			boxes, err := openObjects(boxKind, f.store, options)
			if err != nil {
				t.Fatal(err)
			}
			defer boxes.close()
			if _, err := f.store.client.Put(t.Context(), boxes.rawKey(webName), row.stored); err != nil {
				t.Fatal(err)
			}
			got, isStored, err := boxes.summary(t.Context(), webName)
			if err != nil || !isStored || got.IsCorrupt != row.want.IsCorrupt || got.UID != row.want.UID || got.Generation != row.want.Generation {
				t.Errorf("got %+v, %t, %v", got, isStored, err)
			}
		})
	}
}

func TestAnObjectThatIsNotStored(t *testing.T) {
	f := newFixture(t)
	f.put(box("web", "1"))
	absent := types.NamespacedName{Namespace: testNamespace, Name: "absent"}
	if _, isStored, err := f.boxes.summary(t.Context(), absent); isStored || err != nil {
		t.Errorf("summary: %t, %v", isStored, err)
	}
	if isChanged, err := f.boxes.update(t.Context(), mustBox(t, box("absent", "1")), newOwners()); isChanged || err == nil {
		t.Errorf("update: %t, %v", isChanged, err)
	}
	if err := f.boxes.remove(t.Context(), absent, "1"); err != nil {
		t.Errorf("remove: %v", err)
	}
	// Another object of the name has another UID.
	if isChanged, err := f.boxes.update(t.Context(), mustBox(t, box("web", "2", atGeneration(2))), newOwners()); isChanged || err == nil {
		t.Errorf("update of another object: %t, %v", isChanged, err)
	}
	if err := f.boxes.remove(t.Context(), webName, "2"); err == nil || !strings.Contains(err.Error(), "removing box shop/web") {
		t.Errorf("remove of another object: %v", err)
	}
	if got := f.stored()["web"]; got.UID != "1" || got.Generation != 1 {
		t.Errorf("the stored object changed: %v", got)
	}
	f.hookRequests(func(context.Context, string, string) error { return errors.New("no answer") })
	if _, isStored, err := f.boxes.summary(t.Context(), webName); isStored || err == nil {
		t.Errorf("summary of a store that does not answer: %t, %v", isStored, err)
	}
}

// An administrator restores an object by copying its former value to its key.
func TestFormerValuesOfChangedObjectsAreKeptForSomeTime(t *testing.T) {
	for _, k := range recordedKinds {
		t.Run(k.noun, func(t *testing.T) {
			record := k.newRecord(k.setSpec)
			renewed := k.newRecord(func(record recordable) { record.SetName("renewed"); record.SetUID("new") })
			f := newFixture(t, k.child(t, record), k.child(t, renewed))
			k.put(f, k.newRecord())
			k.put(f, k.newRecord(func(record recordable) { record.SetName("renewed"); record.SetUID("old") }))
			former := map[string]string{}
			for _, name := range []string{"web", "renewed"} {
				response, err := f.store.client.Get(t.Context(), k.objects(f).rawKey(types.NamespacedName{Namespace: testNamespace, Name: name}))
				if err != nil {
					t.Fatal(err)
				}
				former[fmt.Sprintf("%s/%s/%s/%d", f.store.key(k.replacedDirectory), testNamespace, name, response.Kvs[0].ModRevision)] = string(response.Kvs[0].Value)
			}
			f.behind()
			f.serve(Behind)
			leases := map[int64]bool{}
			for _, pair := range f.copies(k.kind) {
				if want, isFormer := former[string(pair.Key)]; !isFormer || want != string(pair.Value) {
					t.Errorf("the copy %s differs", pair.Key)
				}
				delete(former, string(pair.Key))
				leases[pair.Lease] = true
			}
			if len(former) > 0 {
				t.Errorf("former values are lost: %v", former)
			}
			if len(leases) != 1 {
				t.Errorf("the copies have the leases %v, want one", leases)
			}
			for lease := range leases {
				response, err := f.store.client.TimeToLive(t.Context(), clientv3.LeaseID(lease))
				if err != nil {
					t.Fatal(err)
				}
				if want := int64(30 * 24 * time.Hour / time.Second); response.GrantedTTL != want {
					t.Errorf("the copies expire after %d seconds, want %d", response.GrantedTTL, want)
				}
			}
		})
	}
}
