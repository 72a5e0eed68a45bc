// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
)

// cacheAt is a cache that has seen everything up to a version.
type cacheAt struct{ version string }

func (c *cacheAt) LastStoreSyncResourceVersion() string { return c.version }

func TestWriteRecord(t *testing.T) {
	web, mail := types.NamespacedName{Namespace: "default", Name: "web"}, types.NamespacedName{Namespace: "default", Name: "mail"}
	deployments, services := schema.GroupResource{Group: "apps", Resource: "deployments"}, schema.GroupResource{Resource: "services"}

	for _, row := range []struct {
		name   string
		writes func(*writeRecord)
		// What the caches of Deployments and of Services have seen.
		deployments, services string
		want                  bool
	}{
		{"nothing was written", func(*writeRecord) {}, "10", "10", true},
		{"the cache has not seen the write", func(r *writeRecord) { r.wrote(web, deployments, "11") }, "10", "10", false},
		{"the cache has just seen the write", func(r *writeRecord) { r.wrote(web, deployments, "11") }, "11", "10", true},
		{"the cache has seen more than the write", func(r *writeRecord) { r.wrote(web, deployments, "11") }, "12", "10", true},
		{"versions are numbers: 9 is before 10", func(r *writeRecord) { r.wrote(web, deployments, "9") }, "10", "10", true},
		{"versions are numbers: 100 is after 99", func(r *writeRecord) { r.wrote(web, deployments, "100") }, "99", "10", false},
		{"each resource has a cache of its own", func(r *writeRecord) { r.wrote(web, services, "11") }, "12", "10", false},
		{"every resource has to be seen", func(r *writeRecord) {
			r.wrote(web, deployments, "11")
			r.wrote(web, services, "12")
		}, "11", "11", false},
		{"the newest of two writes has to be seen", func(r *writeRecord) {
			r.wrote(web, deployments, "11")
			r.wrote(web, deployments, "12")
		}, "11", "10", false},
		{"the newest of two writes counts, whatever their order", func(r *writeRecord) {
			r.wrote(web, deployments, "12")
			r.wrote(web, deployments, "11")
		}, "11", "10", false},
		{"the writes of another box do not count", func(r *writeRecord) { r.wrote(mail, deployments, "11") }, "10", "10", true},
		{"the writes of a box that is gone do not count", func(r *writeRecord) {
			r.wrote(web, deployments, "11")
			r.forget(web)
		}, "10", "10", true},
		{"forgetting another box changes nothing", func(r *writeRecord) {
			r.wrote(web, deployments, "11")
			r.forget(mail)
		}, "10", "10", false},
		{"a written version that is no number is not waited for", func(r *writeRecord) { r.wrote(web, deployments, "v11") }, "10", "10", true},
		{"an empty written version is not waited for", func(r *writeRecord) { r.wrote(web, deployments, "") }, "10", "10", true},
		{"a cache whose version is no number is not waited for", func(r *writeRecord) { r.wrote(web, deployments, "11") }, "v10", "10", true},
		{"a cache that does not know its version is not waited for", func(r *writeRecord) { r.wrote(web, deployments, "11") }, "", "10", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			clock := testingclock.NewFakePassiveClock(time.Now())
			record := newWriteRecord(clock)
			record.observe(deployments, &cacheAt{row.deployments})
			record.observe(services, &cacheAt{row.services})
			row.writes(record)
			if got := record.isVisible(web); got != row.want {
				t.Errorf("got %v, want %v", got, row.want)
			}
		})
	}
}

func TestWriteRecordWaitsUntilTheCacheHasMoved(t *testing.T) {
	web := types.NamespacedName{Namespace: "default", Name: "web"}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	cache, clock := &cacheAt{"10"}, testingclock.NewFakePassiveClock(time.Now())
	record := newWriteRecord(clock)
	record.observe(deployments, cache)

	record.wrote(web, deployments, "12")
	for _, step := range []struct {
		version string
		want    bool
	}{{"10", false}, {"11", false}, {"12", true}} {
		cache.version = step.version
		if got := record.isVisible(web); got != step.want {
			t.Errorf("at version %s: got %v, want %v", step.version, got, step.want)
		}
	}
	if len(record.writes) != 0 {
		t.Errorf("what was seen is still remembered: %v", record.writes)
	}
}

// The cluster was restored from a backup: its versions go on from an earlier one.
func TestWriteRecordDoesNotWaitForEver(t *testing.T) {
	web := types.NamespacedName{Namespace: "default", Name: "web"}
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	clock := testingclock.NewFakePassiveClock(time.Now())
	record := newWriteRecord(clock)
	record.observe(deployments, &cacheAt{"7"})
	record.wrote(web, deployments, "12")

	clock.SetTime(clock.Now().Add(maxCacheLag - time.Second))
	if record.isVisible(web) {
		t.Error("the write is given up before its time")
	}
	clock.SetTime(clock.Now().Add(time.Second))
	if !record.isVisible(web) {
		t.Error("the write is waited for for ever")
	}
	if len(record.writes) != 0 {
		t.Errorf("what was given up is still remembered: %v", record.writes)
	}
}
