// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"sync"
	"testing"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

const (
	manyBoxes      = 5000
	manyNamespaces = 50
)

// BenchmarkListByField lists by a selector that leaves 1 % of the boxes, with the indexes of the watch cache and
// without, in all namespaces and in one of fifty. The last rows are of a selector that leaves 99 %, for which an index is
// no help and is not used.
func BenchmarkListByField(b *testing.B) {
	backend := newBackend(b)
	fill(b, backend.newStorage(b))
	withIndexes, without := backend.newStorage(b), backend.newStorageWithoutIndexes(b)

	for _, row := range []struct {
		name      string
		namespace string
		selector  fields.Selector
		want      int
	}{
		{"Image/AllNamespaces", metav1.NamespaceAll, fields.OneTermEqualSelector("spec.image", "nginx:2"), manyBoxes / 100},
		{"Image/OneNamespace", "ns-0", fields.OneTermEqualSelector("spec.image", "nginx:2"), manyBoxes / 100 / manyNamespaces},
		{"NotReady/AllNamespaces", metav1.NamespaceAll, fields.OneTermEqualSelector("status.ready", "false"), manyBoxes / 100},
		{"NotReady/OneNamespace", "ns-0", fields.OneTermEqualSelector("status.ready", "false"), manyBoxes / 100 / manyNamespaces},
		{"Ready/AllNamespaces", metav1.NamespaceAll, fields.OneTermEqualSelector("status.ready", "true"), manyBoxes - manyBoxes/100},
		{"Ready/OneNamespace", "ns-0", fields.OneTermEqualSelector("status.ready", "true"), (manyBoxes - manyBoxes/100) / manyNamespaces},
	} {
		for _, server := range []struct {
			name    string
			storage *Storage
		}{{"Index", withIndexes}, {"NoIndex", without}} {
			b.Run(row.name+"/"+server.name, func(b *testing.B) {
				ctx := genericapirequest.WithNamespace(b.Context(), row.namespace)
				options := &metainternalversion.ListOptions{ResourceVersion: "0", FieldSelector: row.selector}
				b.ReportAllocs()
				for b.Loop() {
					boxes, err := tryList(ctx, server.storage, options)
					if err != nil {
						b.Fatal(err)
					}
					if len(boxes.Items) != row.want {
						b.Fatalf("got %d boxes, want %d", len(boxes.Items), row.want)
					}
				}
			})
		}
	}
}

// fill stores the boxes, of which each hundredth has the image nginx:2 and is not ready, evenly over the namespaces.
func fill(b *testing.B, storage *Storage) {
	b.Helper()
	const writers = 8
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for i := writer; i < manyBoxes; i += writers {
				if err := fillOne(b.Context(), storage, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

func fillOne(ctx context.Context, storage *Storage, i int) error {
	// Boxes of a namespace are a hundred in a row, so that one of them is the hundredth.
	namespace := fmt.Sprintf("ns-%d", i*manyNamespaces/manyBoxes)
	ctx = genericapirequest.WithNamespace(ctx, namespace)
	isHundredth := i%100 == 0
	box := newBox(named(fmt.Sprintf("box-%d", i)), func(box *model.ModelBox) {
		box.Namespace = namespace
		if isHundredth {
			box.Spec.Image = "nginx:2"
		}
	})
	if _, err := storage.ModelBox.Create(ctx, box, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating box %d: %w", i, err)
	}
	if isHundredth {
		return nil
	}
	_, _, err := storage.Status.Update(ctx, box.Name, changed(func(box *model.ModelBox) {
		box.Status.Conditions[0].Status = metav1.ConditionTrue
	}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("making box %d ready: %w", i, err)
	}
	return nil
}

// newStorageWithoutIndexes returns the stores of a server whose watch cache has no indexes.
func (b *backend) newStorageWithoutIndexes(t testing.TB) *Storage {
	t.Helper()
	plain := *b
	plain.Options.Decorator = func(config *storagebackend.ConfigForResource, prefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, attrs apistorage.AttrFunc, triggers apistorage.IndexerFuncs, _ *cache.Indexers,
	) (apistorage.Interface, factory.DestroyFunc, error) {
		return genericregistry.StorageWithCacher()(config, prefix, keyFunc, newFunc, newListFunc, attrs, triggers, nil)
	}
	return plain.newStorage(t)
}
