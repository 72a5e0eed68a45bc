// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cachehealth

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestACacheFails(t *testing.T) {
	broken, forbidden := errors.New("broken"), apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
	expired := apierrors.NewResourceExpired("")
	type failure struct {
		after   time.Duration
		version string
		err     error
	}
	for _, row := range []struct {
		name     string
		failures []failure
		now      time.Duration
		version  string
		unsynced bool
		want     string
	}{
		{name: "nothing failed", now: time.Hour},
		{name: "one failure", failures: []failure{{0, "", broken}}, now: time.Minute},
		{name: "failures for a while", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: syncTimeout - 1},
		{name: "failures for long", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: syncTimeout, want: "cannot list or watch pods"},
		{name: "failures that still come", failures: []failure{{0, "", broken}, {time.Minute, "", broken}, {2 * time.Minute, "", broken}}, now: 3 * time.Minute, want: "cannot list or watch pods"},
		{name: "failures that no longer come", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: failurePeriod + 2*time.Second},
		{name: "a cache that has moved on", failures: []failure{{0, "", broken}, {time.Second, "", broken}}, now: time.Minute, version: "42"},
		{name: "failures with successes in between", failures: []failure{{0, "", broken}, {time.Minute, "42", broken}}, now: time.Minute, version: "42"},
		{name: "lists without watches", failures: []failure{{0, "", forbidden}, {time.Minute, "42", forbidden}}, now: time.Minute, version: "42", want: "cannot list or watch pods"},
		{name: "failures since shortly after the start", failures: []failure{{time.Second, "", broken}, {2 * time.Second, "", broken}}, now: syncTimeout, unsynced: true},
		{name: "a list that failed and is not answered", failures: []failure{{0, "", broken}}, now: failurePeriod + 1, unsynced: true, want: "the cache of pods has not synced for 2m0s"},
		{name: "watches that ended", failures: []failure{{0, "", io.EOF}, {time.Second, "", io.EOF}}, now: time.Minute},
		{name: "versions that are too old", failures: []failure{{0, "", expired}, {time.Second, "", expired}}, now: time.Minute},
		{name: "a list that is not answered yet", now: syncTimeout - 1, unsynced: true},
		{name: "a list that is not answered", now: syncTimeout, unsynced: true, want: "the cache of pods has not synced for 30s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			now, begin := "", time.Now()
			health := &sharedCache{
				resource:  corev1.Resource("pods"),
				version:   func() string { return now },
				hasSynced: func() bool { return !row.unsynced },
			}
			health.started(begin)
			for _, failure := range row.failures {
				now = failure.version
				health.failed(begin.Add(failure.after), failure.err)
			}
			now = row.version
			err := health.failure(begin.Add(row.now))
			if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if isRefused := row.want != "" && !row.unsynced; errors.Is(err, ErrCacheNotSynced) != isRefused {
				t.Errorf("got %v, want ErrCacheNotSynced: %t", err, isRefused)
			}
		})
	}
}
