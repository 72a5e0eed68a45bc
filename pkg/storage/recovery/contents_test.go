// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// noStorage returns a decorator that returns no storage. It notes in open whether the storage is open, and fails for a resource prefix.
func noStorage(open map[string]bool, failing string) generic.StorageDecorator {
	return func(_ *storagebackend.ConfigForResource, prefix string, _ func(runtime.Object) (string, error),
		_, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		if prefix == "/"+failing {
			return nil, nil, errors.New("failed")
		}
		open[prefix] = true
		return nil, func() { delete(open, prefix) }, nil
	}
}

func TestTheStorageOfEachKindIsClosed(t *testing.T) {
	for _, row := range []struct {
		failing string
		// open is the storage that is open until the contents are closed.
		open []string
	}{
		{"", []string{"/modelboxes", "/modelstacks", "/networks"}},
		{"modelboxes", nil},
		{"modelstacks", nil},
		{"networks", nil},
	} {
		t.Run("failing: "+row.failing, func(t *testing.T) {
			open := map[string]bool{}
			optionsOf := func(resource string) generic.RESTOptions {
				return generic.RESTOptions{ResourcePrefix: resource, StorageConfig: &storagebackend.ConfigForResource{}, Decorator: noStorage(open, row.failing)}
			}
			contents, err := openContents(nil, &Config{Boxes: optionsOf("modelboxes"), Stacks: optionsOf("modelstacks"), Networks: optionsOf("networks")})
			if isFailed := err != nil; isFailed != (row.failing != "") || isFailed && !strings.Contains(err.Error(), "opening the storage of") {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.open, slices.Sorted(maps.Keys(open))); diff != "" {
				t.Errorf("open: -want +got:\n%s", diff)
			}
			if err == nil {
				contents.close()
			}
			if len(open) > 0 {
				t.Errorf("%v is still open", open)
			}
		})
	}
}
