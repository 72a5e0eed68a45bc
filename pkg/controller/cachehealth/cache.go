// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package cachehealth tells whether the caches of shared informers follow their API servers.
package cachehealth

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// syncTimeout is for how long a cache may fail to follow before that is reported.
	syncTimeout = 30 * time.Second
	// failurePeriod is how long a failure counts that does not come again: a reflector tries again after a minute at most.
	failurePeriod = 2 * time.Minute
)

// ErrCacheNotSynced says that a controller cannot work because it cannot list or watch a resource. Another server may
// be able to.
var ErrCacheNotSynced = errors.New("a cache does not follow its API server")

// sharedCache is the cache of one informer, whichever controllers use it.
type sharedCache struct {
	resource  schema.GroupResource
	store     cache.Store
	hasSynced cache.InformerSynced
	// isServed is whether the cluster serves the resource. Nil is one that every cluster does.
	isServed func() bool
	// version is the resourceVersion that the informer has come to.
	version func() string
	// isLogged is whether the failure is in the log.
	isLogged bool

	mu sync.Mutex
	// isRequired is whether some controller cannot work without the cache.
	isRequired bool
	// startedAt is when the informer was started, zero before.
	startedAt time.Time
	// err is the last failure to list or watch, of a row that began at first; it was at last, and the informer had come
	// to the version stuckAt.
	err         error
	first, last time.Time
	stuckAt     string
}

// require takes note that a controller cannot work without the cache.
func (c *sharedCache) require() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isRequired = true
}

// started takes note of the informer's start.
func (c *sharedCache) started(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.startedAt = now
}

// failed takes note of a failure. Watches that end are none.
func (c *sharedCache) failed(now time.Time, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	version := c.version()
	// Where only the right to watch is missing, each failure comes after a list, and so at another version.
	hasMoved := version != c.stuckAt && !apierrors.IsForbidden(err)
	if c.err == nil || hasMoved || now.Sub(c.last) > failurePeriod {
		c.first = now
	}
	c.err, c.last, c.stuckAt = err, now, version
}

// failure returns why the cache does not follow, nil while it does or may soon. It is ErrCacheNotSynced where the API
// server refuses it, and another error where it is merely slow.
func (c *sharedCache) failure(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil && c.version() == c.stuckAt && now.Sub(c.last) <= failurePeriod {
		if c.last.Equal(c.first) || now.Sub(c.first) < syncTimeout {
			return nil
		}
		return fmt.Errorf("%w: cannot list or watch %s, which needs the right to list and watch them, and a cluster that serves them: %w", ErrCacheNotSynced, c.resource, c.err)
	}
	if !c.startedAt.IsZero() && now.Sub(c.startedAt) >= syncTimeout && !c.hasSynced() {
		return fmt.Errorf("the cache of %s has not synced for %s", c.resource, now.Sub(c.startedAt).Round(time.Second))
	}
	return nil
}

// log logs when the cache begins and ends to fail.
func (c *sharedCache) log(logger klog.Logger, failure error) {
	switch {
	case failure != nil && !c.isLogged:
		c.mu.Lock()
		isRequired := c.isRequired
		c.mu.Unlock()
		logger.Error(failure, "A cache does not follow its API server", "resource", c.resource, "required", isRequired)
	case failure == nil && c.isLogged:
		logger.Info("A cache follows its API server again", "resource", c.resource)
	}
	c.isLogged = failure != nil
}
