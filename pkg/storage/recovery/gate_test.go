// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// newCache returns a cache of boxes that is filled after done is closed.
func newCache(t *testing.T, f *fixture, done <-chan struct{}) (cached storage.Interface, stop func()) {
	t.Helper()
	return decoratedStorage(t, f, storageWithCacher(done, f.config.Corrupt))
}

// decoratedStorage returns storage of boxes with the decorator of a server.
func decoratedStorage(t *testing.T, f *fixture, decorator generic.StorageDecorator) (decorated storage.Interface, stop func()) {
	t.Helper()
	attributes := func(object runtime.Object) (labels.Set, fields.Set, error) {
		box := object.(*model.ModelBox)
		return box.Labels, fields.Set{"metadata.name": box.Name}, nil
	}
	key := func(object runtime.Object) (string, error) {
		box := object.(*model.ModelBox)
		return f.boxes.prefix + "/" + box.Namespace + "/" + box.Name, nil
	}
	decorated, stop, err := decorator(f.config.Boxes.StorageConfig, f.boxes.prefix, key,
		func() runtime.Object { return &model.ModelBox{} }, func() runtime.Object { return &model.ModelBoxList{} },
		attributes, nil, &cache.Indexers{})
	if err != nil {
		t.Fatal(err)
	}
	return decorated, stop
}

func TestACacheIsFilledWhenTheStoreIsServedFrom(t *testing.T) {
	f := newFixture(t)
	done := make(chan struct{})
	cached, stop := newCache(t, f, done)
	defer stop()
	options := storage.ListOptions{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Predicate: storage.Everything, Recursive: true}
	f.put(box("web", "1"))
	close(done)
	list := &model.ModelBoxList{}
	for list.ResourceVersion == "" {
		if err := cached.GetList(t.Context(), f.boxes.prefix+"/", options, list); err != nil && t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	if len(list.Items) != 1 {
		t.Errorf("the list has %d boxes", len(list.Items))
	}
}

func TestACacheThatWasNeverFilledStops(t *testing.T) {
	_, stop := newCache(t, newFixture(t), nil)
	awaitGoroutines(t, "recovery.gatedStorage.wait", func(count int) bool { return count > 0 })
	stop()
	awaitGoroutines(t, "recovery.gatedStorage.wait", func(count int) bool { return count == 0 })
}

// goroutines returns the number of goroutines with a function on their stack.
func goroutines(function string) int {
	stacks := make([]byte, 16<<20)
	stacks = stacks[:goruntime.Stack(stacks, true)]
	count := 0
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, function) {
			count++
		}
	}
	return count
}

// awaitGoroutines waits until the number of goroutines with a function is as expected.
func awaitGoroutines(t *testing.T, function string, isExpected func(int) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchPatience)
	defer cancel()
	for count := goroutines(function); !isExpected(count); count = goroutines(function) {
		if ctx.Err() != nil {
			t.Fatalf("%d goroutines are in %s", count, function)
		}
		goruntime.Gosched()
	}
}

func TestACacheThatStopsLeavesNothing(t *testing.T) {
	f := newFixture(t)
	f.put(box("web", "1"))
	connections := goroutines(connection)
	done := make(chan struct{})
	close(done)
	cached, stop := newCache(t, f, done)
	var watcher watch.Interface
	for watcher == nil {
		w, err := cached.Watch(t.Context(), f.boxes.prefix+"/", storage.ListOptions{Predicate: storage.Everything, Recursive: true})
		switch {
		case err == nil:
			watcher = w
		case !apierrors.IsTooManyRequests(err) || t.Context().Err() != nil: // the cache is being filled
			t.Fatal(err)
		}
	}
	left := map[string]int{"consistency.Checker.Run": 0, "cacher.(*Cacher).dispatchEvents": 0, connection: connections}
	for function, before := range left {
		awaitGoroutines(t, function, func(count int) bool { return count > before })
	}
	stop()
	ctx, cancel := context.WithTimeout(t.Context(), watchPatience)
	defer cancel()
	for isOpen := true; isOpen; {
		select {
		case _, isOpen = <-watcher.ResultChan():
		case <-ctx.Done():
			t.Fatal("a watch of the cache is still open")
		}
	}
	for function, before := range left {
		awaitGoroutines(t, function, func(count int) bool { return count <= before })
	}
	stop() // again, for a subresource
}

// connection is a function that runs in a goroutine for each connection to an etcd.
const connection = "grpcsync.(*CallbackSerializer).run"

func TestACacheThatCannotBeCreatedLeavesNoConnection(t *testing.T) {
	f := newFixture(t)
	f.put(box("web", "1"))
	before := goroutines(connection)
	none := func(runtime.Object) string { return "" }
	got, _, err := storageWithCacher(nil, f.config.Corrupt)(f.config.Boxes.StorageConfig, f.boxes.prefix, nil,
		func() runtime.Object { return &model.ModelBox{} }, f.boxes.newList, nil, storage.IndexerFuncs{"one": none, "two": none}, &cache.Indexers{})
	if err == nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	awaitGoroutines(t, connection, func(count int) bool { return count <= before })
}

func TestStorageThatIsNotServedFrom(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (gatedStorage{}).GetList(ctx, "", storage.ListOptions{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a list: %v", err)
	}
	if _, err := (gatedStorage{}).Watch(ctx, "", storage.ListOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a watch: %v", err)
	}
}
