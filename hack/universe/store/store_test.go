// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/apitesting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

// newTestStorage returns a storage of pods that delivers events at once, and its store.
func newTestStorage(t *testing.T) (storage.Interface, *Store) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	codec := apitesting.TestCodec(serializer.NewCodecFactory(scheme), examplev1.SchemeGroupVersion)
	s := New()
	backend := storagebackend.Config{Codec: codec}
	config := backend.ForResource(schema.GroupResource{Resource: "pods"})
	resource, _, err := s.Decorator()(config, "/pods", nil, func() runtime.Object { return &example.Pod{} }, nil, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for t.Context().Err() == nil {
			for _, watch := range s.Watches() {
				watch.Deliver(watch.Pending())
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return resource, s
}

// TestStorage runs the tests of k8s.io/apiserver for the storage in etcd, except for the tests of lifetimes of objects, of lists of
// former revisions and of transformers, which a simulated cluster does not need.
func TestStorage(t *testing.T) {
	noValidation := func(context.Context, *testing.T, string) {}
	noCalls := func(*testing.T, uint64, uint64) {}
	for name, test := range map[string]func(context.Context, *testing.T, storage.Interface){
		"create": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestCreate(ctx, t, s, noValidation)
		},
		"create what exists":       storagetesting.RunTestCreateWithKeyExist,
		"get":                      storagetesting.RunTestGet,
		"delete":                   storagetesting.RunTestUnconditionalDelete,
		"delete with conditions":   storagetesting.RunTestConditionalDelete,
		"delete with a suggestion": storagetesting.RunTestDeleteWithSuggestion,
		"delete with a suggestion and a conflict":             storagetesting.RunTestDeleteWithSuggestionAndConflict,
		"delete with a conflict":                              storagetesting.RunTestDeleteWithConflict,
		"delete with a suggestion of a deleted object":        storagetesting.RunTestDeleteWithSuggestionOfDeletedObject,
		"validate a deletion with a suggestion":               storagetesting.RunTestValidateDeletionWithSuggestion,
		"validate a deletion with only the suggestion valid":  storagetesting.RunTestValidateDeletionWithOnlySuggestionValid,
		"delete with preconditions":                           storagetesting.RunTestPreconditionalDeleteWithSuggestion,
		"delete with preconditions that only the cache meets": storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass,
		"list the objects of a prefix":                        storagetesting.RunTestGetListRecursivePrefix,
		"list a namespace":                                    storagetesting.RunTestNamespaceScopedList,
		"list in pages what is rare": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestListPaginationRareObject(ctx, t, s, noCalls)
		},
		"update with a conflict":                  storagetesting.RunTestGuaranteedUpdateWithConflict,
		"update with a suggestion and a conflict": storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict,
		"keys":                                   storagetesting.RunTestKeySchema,
		"watch":                                  storagetesting.RunTestWatch,
		"watch a cluster":                        storagetesting.RunTestClusterScopedWatch,
		"watch a namespace":                      storagetesting.RunTestNamespaceScopedWatch,
		"watch deletions":                        storagetesting.RunTestDeleteTriggerWatch,
		"watch from a revision":                  storagetesting.RunTestWatchFromNonZero,
		"watch without reading":                  storagetesting.RunTestDelayedWatchDelivery,
		"end a watch":                            storagetesting.RunTestWatchContextCancel,
		"revisions of deleted objects":           storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV,
		"watch with the objects":                 storagetesting.RunWatchSemantics,
		"watch with the objects from a revision": storagetesting.RunWatchSemanticInitialEventsExtended,
		"watch as older clients":                 storagetesting.RunSendInitialEventsBackwardCompatibility,
		"watch a single object":                  storagetesting.RunWatchListMatchSingle,
	} {
		t.Run(name, func(t *testing.T) {
			pods, _ := newTestStorage(t)
			test(t.Context(), t, pods)
		})
	}
}
