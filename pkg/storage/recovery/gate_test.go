// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
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
	stop()
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
