// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

func TestServerIsReadyWhenItsStoreIsServable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newMemoryFixture(t, childOf(box("never", "9"), "apps/v1", "Deployment"))
		f.config.Policy = Refuse
		ctx, cancel := context.WithCancel(t.Context())
		ctx, logs := withLogs(t, ctx)
		runner := NewRunner(f.config, func(err error) { f.failed = err })
		isDone := func() bool {
			synctest.Wait()
			select {
			case <-runner.Done():
				return true
			default:
				return false
			}
		}
		expectCheck := func(when, want string) {
			t.Helper()
			switch err := runner.Check(nil); {
			case want == "" && err != nil, want != "" && err == nil:
				t.Errorf("%s: %v", when, err)
			case want != "" && !strings.Contains(err.Error(), want):
				t.Errorf("%s: %v, want %s", when, err, want)
			}
		}
		if runner.Name() != "store-recovery" {
			t.Errorf("the check is named %s", runner.Name())
		}
		expectCheck("before it runs", "the store is not checked yet")
		result := make(chan error, 1)
		go func() { result <- runner.Run(ctx) }()
		if isDone() {
			t.Error("the server serves from a store that it refuses")
		}
		expectCheck("while it refuses the store", "the store is Empty")
		time.Sleep(3 * retryPeriod)
		f.cluster.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("no answer")
		})
		time.Sleep(2 * retryPeriod)
		if isDone() {
			t.Error("the server serves from a store while it cannot read the Lease")
		}
		expectCheck("while it cannot read the Lease", "no answer")
		failures := slices.DeleteFunc(logs(), func(message string) bool { return message != "Cannot serve from the store yet" })
		if len(failures) != 2 {
			t.Errorf("%d failed attempts are logged, want one for each reason", len(failures))
		}
		f.cluster.ReactionChain = f.cluster.ReactionChain[1:]
		f.deleteDeployment("never")
		time.Sleep(retryPeriod)
		if !isDone() {
			t.Fatal("the server does not serve from a new store")
		}
		expectCheck("when it serves", "")

		lease := &coordinationv1.Lease{}
		runner.Mark(ctx, lease)
		if got := mustMark(t, lease).Store; got == "" || got != mustMark(t, f.lease()).Store {
			t.Errorf("the Lease is marked with store %q", got)
		}
		if err := runner.Verify(lease); err != nil {
			t.Errorf("the Lease of this server: %v", err)
		}
		time.Sleep(f.config.ObservePeriod)
		synctest.Wait()
		if f.failed != nil || len(result) > 0 {
			t.Errorf("the server ends while its store is the same: %v", f.failed)
		}
		position, err := f.store.Position(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.store.setIdentity(t.Context(), position, Identity{UID: "another"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(f.config.ObservePeriod)
		synctest.Wait()
		if !errors.Is(f.failed, ErrStoreReplaced) {
			t.Errorf("the server of a store that was replaced ends with %v", f.failed)
		}
		expectCheck("when the store was replaced", ErrStoreReplaced.Error())
		cancel()
		if err := <-result; err != nil {
			t.Errorf("Run returns %v", err)
		}
	})
}

func TestRunEndsWithoutAStore(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*fixture)
		want   string
	}{
		{"no client", func(f *fixture) {
			f.config.NewClient = func() (*clientv3.Client, error) { return nil, errors.New("no client") }
		}, "no client"},
		{"no storage", func(f *fixture) {
			f.config.Stacks.Decorator = noStorage(map[string]bool{}, f.config.Stacks.ResourcePrefix)
		}, "opening the storage of stacks"},
		{"no time", func(f *fixture) { f.config.Policy = Refuse }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, _ := newMemoryFixture(t, childOf(box("never", "9"), "apps/v1", "Deployment"))
				row.change(f)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				runner := NewRunner(f.config, nil)
				err := runner.Run(ctx)
				if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
					t.Errorf("Run returns %v", err)
				}
				select {
				case <-runner.Done():
					t.Error("the server serves")
				default:
				}
			})
		})
	}
}

// The first request may come before the first check of the absent owners.
func TestAbsentOwnersAreRefusedFromTheFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newMemoryFixture(t, childOf(box("never", "9"), "apps/v1", "Deployment"))
		runner := NewRunner(f.config, nil)
		if _, err := runner.waitUntilServable(t.Context(), f.store, f.contents); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]AbsentOwner{{"modelboxes", testNamespace, "never", "9"}}, runner.refused.owners); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
