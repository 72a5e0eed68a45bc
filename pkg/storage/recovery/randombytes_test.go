// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	// randomBytesPeriod is the duration of the test with random bytes.
	randomBytesPeriod = 10 * time.Second
	// randomBytesPatience is the timeout for a cache to get an object.
	randomBytesPatience = 30 * time.Second
)

// bystander is the name of a valid box beside the random bytes.
func bystander() *modelv1.ModelBox { return box("mail", "2") }

// realBytes returns the stored value of a box and its record, as seeds.
func realBytes(t testing.TB) (stored, record []byte) {
	t.Helper()
	web := box("web", "1")
	value, err := recordAnnotation(deploymentOf(&testing.T{}, web))
	if err != nil {
		t.Fatal(err)
	}
	return storedBytes(t, web), []byte(value)
}

// storedBytes returns the stored value of a box.
func storedBytes(t testing.TB, box *modelv1.ModelBox) []byte {
	t.Helper()
	raw, err := box.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBox"}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), envelope...)
}

// TestValuesWithoutAJSONFormHarmNothingElse stores boxes that can be decoded from protobuf, but not encoded as JSON and decoded again.
func TestValuesWithoutAJSONFormHarmNothingElse(t *testing.T) {
	t.Parallel()
	_, record := realBytes(t)
	etcd := startEtcd(t)
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
	}{
		{"a rolling update", func(box *modelv1.ModelBox) { box.Spec.RollingUpdate.Type = 51 }},
		{"a limit of a rolling update", func(box *modelv1.ModelBox) {
			box.Spec.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: &intstr.IntOrString{Type: 51}}
		}},
		{"a port", func(box *modelv1.ModelBox) {
			box.Spec.Ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.IntOrString{Type: -1}}}
		}},
		{"a time", func(box *modelv1.ModelBox) {
			box.CreationTimestamp = metav1.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		}},
		{"managed fields", func(box *modelv1.ModelBox) {
			box.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1("{a")}}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			expectNoHarm(t, etcd, storedBytes(t, box("web", "1", row.change)), record)
		})
	}
}

// FuzzStoredAndRecordedBytes stores bytes as a box and records bytes on a Deployment.
func FuzzStoredAndRecordedBytes(f *testing.F) {
	stored, record := realBytes(f)
	f.Add(stored, record)
	f.Add([]byte("{}"), []byte("?"))
	etcd := startEtcd(f)
	f.Fuzz(func(t *testing.T, stored, record []byte) { expectNoHarm(t, etcd, stored, record) })
}

// TestRandomBytesHarmNothingElse is like FuzzStoredAndRecordedBytes, with random edits of a real box and a real record.
func TestRandomBytesHarmNothingElse(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	stored, record := realBytes(t)
	etcd := startEtcd(t)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, seed))
	tried := 0
	for deadline := time.Now().Add(randomBytesPeriod); time.Now().Before(deadline) && !t.Failed(); tried++ {
		changedStored, changedRecord := edit(random, stored), edit(random, record)
		expectNoHarm(t, etcd, changedStored, changedRecord)
		if t.Failed() {
			t.Logf("seed %d, attempt %d: stored %q, record %q", seed, tried, changedStored, changedRecord)
		}
	}
	t.Logf("%d attempts", tried)
}

// edit returns the bytes with some bytes changed, removed, repeated or replaced.
func edit(random *rand.Rand, from []byte) []byte {
	data := bytes.Clone(from)
	for range 1 + random.IntN(4) {
		if len(data) == 0 {
			return data
		}
		at := random.IntN(len(data))
		switch random.IntN(5) {
		case 0:
			data[at] = byte(random.Uint32())
		case 1:
			data = data[:at]
		case 2:
			data = append(data[:at], data[min(len(data), at+1+random.IntN(8)):]...)
		case 3:
			data = append(bytes.Clone(data[:at]), bytes.Repeat(data[at:min(len(data), at+16)], 1+random.IntN(64))...)
		case 4:
			data[at] ^= 1 << random.IntN(8)
		}
	}
	return data
}

// fuzzed numbers the prefixes in the etcd.
var fuzzed atomic.Int64

// expectNoHarm serves from a store with these bytes, recovers a store with this record, and lists, watches and deletes. Only the
// box of the bytes may be missing.
func expectNoHarm(t *testing.T, etcd storagebackend.TransportConfig, stored, record []byte) {
	t.Helper()
	if bytes.HasPrefix(stored, []byte(encryptedPrefix)) {
		return // This server lacks the key, and has to say so.
	}
	forged := deploymentOf(t, box("forged", "3"), func(child *metav1.PartialObjectMetadata) {
		child.Annotations[modelv1.RecordAnnotation] = string(record)
	})
	f := newFixtureIn(t, etcd, fmt.Sprintf("/fuzz-%d", fuzzed.Add(1)), deploymentOf(t, bystander()), forged)
	defer f.contents.close()
	name := types.NamespacedName{Namespace: testNamespace, Name: "web"}
	if _, err := f.store.client.Put(t.Context(), f.boxes.rawKey(name), string(stored)); err != nil {
		t.Fatal(err)
	}
	// The store is Foreign, and the bystander is restored from its record.
	f.setLease(Position{Identity: Identity{UID: "lost"}})
	a, err := f.attempt()
	if err != nil {
		t.Errorf("the server does not serve from the store: %v", err)
		return
	}
	if a.situation != Foreign {
		t.Errorf("the store is %s", a.situation)
	}
	for _, owner := range a.absent {
		if owner.Name != "forged" {
			t.Errorf("%s counts as absent", owner)
		}
	}
	expectCacheWorks(t, f, name)
}

// expectCacheWorks lists, watches and deletes through a cache of the store.
func expectCacheWorks(t *testing.T, f *fixture, name types.NamespacedName) {
	t.Helper()
	done := make(chan struct{})
	close(done)
	keyFunc := func(object runtime.Object) (string, error) { return f.boxes.key(nameOf(object.(*model.ModelBox))), nil }
	attributes := func(object runtime.Object) (labels.Set, fields.Set, error) {
		return object.(*model.ModelBox).Labels, fields.Set{}, nil
	}
	cached, stop, err := storageWithCacher(done, f.config.Corrupt)(f.config.Boxes.StorageConfig, f.boxes.prefix, keyFunc,
		func() runtime.Object { return &model.ModelBox{} }, f.boxes.newList, attributes, nil, &cache.Indexers{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), randomBytesPatience)
	defer cancel()
	list := &model.ModelBoxList{}
	var last error
	if err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
		list = &model.ModelBoxList{}
		last = cached.GetList(ctx, f.boxes.prefix+"/", storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list)
		return last == nil, nil
	}); err != nil {
		t.Errorf("listing: %v", last)
		return
	}
	seen := map[string]bool{}
	for i := range list.Items {
		seen[list.Items[i].Name] = true
	}
	if !seen["mail"] {
		t.Errorf("the list has %v, want mail", seen)
	}
	watcher, err := cached.Watch(ctx, f.boxes.prefix+"/", storage.ListOptions{Predicate: storage.Everything, Recursive: true, ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Errorf("watching: %v", err)
		return
	}
	defer watcher.Stop()
	isCorrupt := !seen["web"]
	err = cached.Delete(ctx, f.boxes.key(name), &model.ModelBox{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{ExpectTransformOrDecodeError: isCorrupt})
	if err != nil {
		t.Errorf("deleting the box (corrupt: %t): %v", isCorrupt, err)
	}
	// The watch continues after the deletion.
	if err := f.boxes.create(ctx, mustBox(t, box("last", "4"))); err != nil {
		t.Fatal(err)
	}
	for event := range watcher.ResultChan() {
		if event.Type == watch.Error {
			t.Errorf("the watch ended with %v", event.Object)
			return
		}
		if added, err := meta.Accessor(event.Object); event.Type == watch.Added && err == nil && added.GetName() == "last" {
			return
		}
	}
	t.Error("the watch ended")
}

func mustBox(t *testing.T, record *modelv1.ModelBox) *model.ModelBox {
	t.Helper()
	stored, err := newBox(record)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}
