// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	clienttesting "k8s.io/client-go/testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestAbsentOwnersAreRefusedUntilTheirChildrenAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner := func(name string) AbsentOwner { return AbsentOwner{"modelboxes", testNamespace, name, types.UID(name)} }
		childOf := func(name string) runtime.Object { return childOf(box(name, types.UID(name)), "apps/v1", "Deployment") }
		f, kv := newMemoryFixture(t, childOf("a"), childOf("b"), childOf("c"))
		if err := f.store.setAbsentOwners(t.Context(), absentOwners{}, []AbsentOwner{owner("a"), owner("b"), owner("c")}); err != nil {
			t.Fatal(err)
		}
		var failing string
		f.hookRequests(func(_ context.Context, verb, _ string) error {
			if verb == failing {
				return errors.New("failed")
			}
			return nil
		})
		f.metadataClient().PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return failing == "list", nil, errors.New("failed")
		})
		refused := &refusedOwners{}
		expect := func(when string, want ...AbsentOwner) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, refused.owners); diff != "" {
				t.Errorf("%s: refused owners: -want +got:\n%s", when, diff)
			}
			if got := metricValues(t)["modelbox_store_absent_owners"]; got != float64(len(want)) {
				t.Errorf("%s: the metric is %v", when, got)
			}
		}
		expectStored := func(when string, want ...AbsentOwner) {
			t.Helper()
			read, err := f.store.absentOwners(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, read.owners); diff != "" {
				t.Errorf("%s: stored owners: -want +got:\n%s", when, diff)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			refused.keepUpdating(ctx, f.store, f.contents, f.hostCluster())
			close(ended)
		}()
		before := kv.revision
		expect("while they have children", owner("a"), owner("b"), owner("c"))
		if kv.revision != before {
			t.Error("owners that did not change are written again")
		}
		f.deleteDeployment("a")
		time.Sleep(absentOwnersPeriod - time.Nanosecond)
		expect("before the next check", owner("a"), owner("b"), owner("c"))
		time.Sleep(time.Nanosecond)
		expect("when the child of the first is gone", owner("b"), owner("c"))
		expectStored("when the child of the first is gone", owner("b"), owner("c"))
		f.deleteDeployment("b")
		for _, failing = range []string{"get", "list", "txn"} {
			time.Sleep(absentOwnersPeriod)
			expect("while each "+failing+" fails", owner("b"), owner("c"))
		}
		failing = ""
		expectStored("after the failures", owner("b"), owner("c"))
		time.Sleep(absentOwnersPeriod)
		expect("when the child of the second is gone", owner("c"))
		expectStored("when the child of the second is gone", owner("c"))
		f.deleteDeployment("c")
		time.Sleep(absentOwnersPeriod)
		expect("when the last child is gone")
		expectStored("when the last child is gone")
		cancel()
		<-ended
	})
}

func TestServersWithAndWithoutACacheRefuseAbsentOwners(t *testing.T) {
	for _, isCached := range []bool{true, false} {
		name := "without a cache"
		if isCached {
			name = "with a cache"
		}
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			runner := NewRunner(f.config, nil)
			runner.refused.set([]AbsentOwner{{"modelboxes", testNamespace, "never", "9"}})
			decorator := runner.UncachedDecorator()
			if isCached {
				decorator = runner.Decorator()
				close(runner.done)
			}
			boxes, stop := decoratedStorage(t, f, decorator)
			defer stop()
			f.put(box("web", "1"))
			for _, row := range []struct {
				name string
				is   func(error) bool
			}{
				{"never", apierrors.IsServiceUnavailable},
				{"gone", storage.IsNotFound},
				{"web", func(err error) bool { return err == nil }},
			} {
				err := boxes.Get(t.Context(), f.boxes.key(types.NamespacedName{Namespace: testNamespace, Name: row.name}), storage.GetOptions{}, &model.ModelBox{})
				if !row.is(err) {
					t.Errorf("get %s: %v", row.name, err)
				}
			}
		})
	}
}

func TestDecoratorsReturnTheErrorOfTheStorage(t *testing.T) {
	refused := &refusedOwners{}
	for name, decorator := range map[string]generic.StorageDecorator{
		"absent owners":  refused.decorate(noStorage(map[string]bool{}, modelv1.GroupName)),
		"future watches": refuseFutureWatches(noStorage(map[string]bool{}, modelv1.GroupName)),
	} {
		if got, _, err := decorator(&storagebackend.ConfigForResource{}, "/"+modelv1.GroupName, nil, nil, nil, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "failed") || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
