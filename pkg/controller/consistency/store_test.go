// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
)

// storeAt is a cache that has seen everything up to a version.
type storeAt struct{ version string }

func (c *storeAt) LastStoreSyncResourceVersion() string { return c.version }

func TestEnsureReady(t *testing.T) {
	web, mail := types.NamespacedName{Namespace: "default", Name: "web"}, types.NamespacedName{Namespace: "default", Name: "mail"}
	deployments, services := schema.GroupResource{Group: "apps", Resource: "deployments"}, schema.GroupResource{Resource: "services"}

	for _, row := range []struct {
		name   string
		writes func(*Store)
		// What the caches of Deployments and of Services have seen.
		deployments, services string
		want                  bool
	}{
		{"nothing was written", func(*Store) {}, "10", "10", true},
		{"the cache has not seen the write", func(s *Store) { s.WroteAt(web, "web-1", deployments, "11") }, "10", "10", false},
		{"the cache has just seen the write", func(s *Store) { s.WroteAt(web, "web-1", deployments, "11") }, "11", "10", true},
		{"the cache has seen more than the write", func(s *Store) { s.WroteAt(web, "web-1", deployments, "11") }, "12", "10", true},
		{"versions are numbers: 9 is before 10", func(s *Store) { s.WroteAt(web, "web-1", deployments, "9") }, "10", "10", true},
		{"versions are numbers: 100 is after 99", func(s *Store) { s.WroteAt(web, "web-1", deployments, "100") }, "99", "10", false},
		{"each resource has a cache of its own", func(s *Store) { s.WroteAt(web, "web-1", services, "11") }, "12", "10", false},
		{"every resource has to be seen", func(s *Store) {
			s.WroteAt(web, "web-1", deployments, "11")
			s.WroteAt(web, "web-1", services, "12")
		}, "11", "11", false},
		{"the newest of two writes has to be seen", func(s *Store) {
			s.WroteAt(web, "web-1", deployments, "11")
			s.WroteAt(web, "web-1", deployments, "12")
		}, "11", "10", false},
		{"the newest of two writes counts, whatever their order", func(s *Store) {
			s.WroteAt(web, "web-1", deployments, "12")
			s.WroteAt(web, "web-1", deployments, "11")
		}, "11", "10", false},
		{"the writes of another owner do not count", func(s *Store) { s.WroteAt(mail, "mail-1", deployments, "11") }, "10", "10", true},
		{"the writes of an owner that is gone do not count", func(s *Store) {
			s.WroteAt(web, "web-1", deployments, "11")
			s.Clear(web, "")
		}, "10", "10", true},
		{"clearing another owner changes nothing", func(s *Store) {
			s.WroteAt(web, "web-1", deployments, "11")
			s.Clear(mail, "")
		}, "10", "10", false},
		{"the writes of an earlier owner of the name do not count", func(s *Store) {
			s.WroteAt(web, "web-0", deployments, "11")
			s.WroteAt(web, "web-1", deployments, "10")
		}, "10", "10", true},
		{"clearing an earlier owner of the name changes nothing", func(s *Store) {
			s.WroteAt(web, "web-1", deployments, "11")
			s.Clear(web, "web-0")
		}, "10", "10", false},
		{"a resource whose cache is not known is not waited for", func(s *Store) {
			s.WroteAt(web, "web-1", schema.GroupResource{Resource: "configmaps"}, "11")
		}, "10", "10", true},
		{"a written version that is no number is not waited for", func(s *Store) { s.WroteAt(web, "web-1", deployments, "v11") }, "10", "10", true},
		{"an empty written version is not waited for", func(s *Store) { s.WroteAt(web, "web-1", deployments, "") }, "10", "10", true},
		{"a cache whose version is no number is not waited for", func(s *Store) { s.WroteAt(web, "web-1", deployments, "11") }, "v10", "10", true},
		{"a cache that does not know its version is not waited for", func(s *Store) { s.WroteAt(web, "web-1", deployments, "11") }, "", "10", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			clock := testingclock.NewFakePassiveClock(time.Now())
			store := NewStore(clock, map[schema.GroupResource]LastSyncRVGetter{
				deployments: &storeAt{row.deployments},
				services:    &storeAt{row.services},
			})
			row.writes(store)
			if err := store.EnsureReady(web); (err == nil) != row.want {
				t.Errorf("ready: got %v, want %v: %v", err == nil, row.want, err)
			}
		})
	}
}

func TestEnsureReadyWaitsUntilTheCacheHasMoved(t *testing.T) {
	web := types.NamespacedName{Namespace: "default", Name: "web"}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	cache, clock := &storeAt{"10"}, testingclock.NewFakePassiveClock(time.Now())
	store := NewStore(clock, map[schema.GroupResource]LastSyncRVGetter{deployments: cache})

	store.WroteAt(web, "web-1", deployments, "12")
	for _, step := range []struct {
		version string
		want    bool
	}{{"10", false}, {"11", false}, {"12", true}} {
		cache.version = step.version
		if err := store.EnsureReady(web); (err == nil) != step.want {
			t.Errorf("ready at version %s: got %v, want %v: %v", step.version, err == nil, step.want, err)
		}
	}
	if len(store.writes) != 0 {
		t.Errorf("what was seen is still remembered: %v", store.writes)
	}
}

// The cluster was restored from a backup: its resource versions continue from an earlier one.
func TestEnsureReadyGivesUpAWriteThatNoCacheShows(t *testing.T) {
	web := types.NamespacedName{Namespace: "default", Name: "web"}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	clock := testingclock.NewFakePassiveClock(time.Now())
	store := NewStore(clock, map[schema.GroupResource]LastSyncRVGetter{deployments: &storeAt{"7"}})
	store.WroteAt(web, "web-1", deployments, "12")

	clock.SetTime(clock.Now().Add(maxCacheLag - time.Second))
	if store.EnsureReady(web) == nil {
		t.Error("the write is given up before its time")
	}
	clock.SetTime(clock.Now().Add(time.Second))
	if store.EnsureReady(web) != nil {
		t.Error("the write is waited for forever")
	}
	if len(store.writes) != 0 {
		t.Errorf("what was given up is still remembered: %v", store.writes)
	}
}
