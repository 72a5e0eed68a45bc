// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	// syncPatience is for how long a cache may fail to follow before that is told.
	syncPatience = 30 * time.Second
	// failurePeriod is how long a failure counts that does not come again: a reflector tries again after a minute at most.
	failurePeriod = 2 * time.Minute
	// healthPeriod is how often the caches are looked at.
	healthPeriod = time.Second
)

// ErrCacheNotSynced says that the controller cannot work because it cannot list or watch a resource. Another server may
// be able to.
var ErrCacheNotSynced = errors.New("a cache does not follow its API server")

// cacheHealth tells whether an informer's cache follows its API server.
type cacheHealth struct {
	resource schema.GroupResource
	// isRequired is whether the controller cannot work without the cache.
	isRequired bool
	hasSynced  cache.InformerSynced
	// version is the resourceVersion that the informer has come to.
	version func() string
	// isTold is whether the failure is in the log.
	isTold bool

	mu sync.Mutex
	// startedAt is when the informer was started, zero before.
	startedAt time.Time
	// err is the last failure to list or watch, of a row that began at first; it was at last, and the informer had come
	// to the version stuckAt.
	err         error
	first, last time.Time
	stuckAt     string
}

// watchHealth takes note of the failures of an informer that is not started yet.
func (c *Controller) watchHealth(resource schema.GroupResource, isRequired bool, informer cache.SharedIndexInformer, hasSynced cache.InformerSynced) error {
	health := &cacheHealth{resource: resource, isRequired: isRequired, hasSynced: hasSynced, version: informer.LastSyncResourceVersion}
	c.caches = append(c.caches, health)
	err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		health.failed(time.Now(), err)
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	})
	if err != nil {
		return fmt.Errorf("watching the health of the cache of %s: %w", resource, err)
	}
	return nil
}

// started takes note of the informer's start.
func (h *cacheHealth) started(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.startedAt = now
}

// failed takes note of a failure. Watches that end are none.
func (h *cacheHealth) failed(now time.Time, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	version := h.version()
	// Where only the right to watch is missing, each failure comes after a list, and so at another version.
	hasMoved := version != h.stuckAt && !apierrors.IsForbidden(err)
	if h.err == nil || hasMoved || now.Sub(h.last) > failurePeriod {
		h.first = now
	}
	h.err, h.last, h.stuckAt = err, now, version
}

// failure returns why the cache does not follow, nil while it does or may soon. It is ErrCacheNotSynced where the API
// server refuses it, and another error where it is merely slow.
func (h *cacheHealth) failure(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil && h.version() == h.stuckAt && now.Sub(h.last) <= failurePeriod {
		if h.last.Equal(h.first) || now.Sub(h.first) < syncPatience {
			return nil
		}
		return fmt.Errorf("%w: cannot list or watch %s, which needs the right to list and watch them, and a cluster that serves them: %w", ErrCacheNotSynced, h.resource, h.err)
	}
	if !h.startedAt.IsZero() && now.Sub(h.startedAt) >= syncPatience && !h.hasSynced() {
		return fmt.Errorf("the cache of %s has not synced for %s", h.resource, now.Sub(h.startedAt).Round(time.Second))
	}
	return nil
}

// tell logs when the cache begins and ends to fail.
func (h *cacheHealth) tell(logger klog.Logger, failure error) {
	switch {
	case failure != nil && !h.isTold:
		logger.Error(failure, "A cache does not follow its API server", "resource", h.resource, "required", h.isRequired)
	case failure == nil && h.isTold:
		logger.Info("A cache follows its API server again", "resource", h.resource)
	}
	h.isTold = failure != nil
}

// CheckHealth returns why the controller cannot work, nil when it can, or when nothing is wrong so far.
func (c *Controller) CheckHealth() error {
	var failures []error
	for _, health := range c.caches {
		if err := health.failure(time.Now()); err != nil && health.isRequired {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// HasSynced returns whether every cache has synced that the controller needs.
func (c *Controller) HasSynced() bool {
	return !slices.ContainsFunc(c.caches, func(health *cacheHealth) bool { return health.isRequired && !health.hasSynced() })
}

// watchCaches looks at the caches until ctx is done, and gives up when one that is required is refused.
func (c *Controller) watchCaches(ctx context.Context, giveUp context.CancelCauseFunc) {
	logger := klog.FromContext(ctx)
	ticker := time.NewTicker(healthPeriod)
	defer ticker.Stop()
	for {
		for _, health := range c.caches {
			failure := health.failure(time.Now())
			health.tell(logger, failure)
			c.metrics.cacheFollows(health.resource, failure == nil && health.hasSynced())
		}
		if err := c.CheckHealth(); errors.Is(err, ErrCacheNotSynced) {
			giveUp(err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// waitForCaches waits until every cache has synced. One that is not required is waited for as long as it may fail. It
// returns false when ctx is done before.
func (c *Controller) waitForCaches(ctx context.Context) bool {
	logger := klog.FromContext(ctx)
	logger.Info("Waiting for caches to sync")
	for _, health := range c.caches {
		health.started(time.Now())
	}
	optional, cancel := context.WithTimeout(ctx, syncPatience)
	defer cancel()
	for _, health := range c.caches {
		limit := ctx
		if !health.isRequired {
			limit = optional
		}
		if !cache.WaitForCacheSync(limit.Done(), health.hasSynced) {
			if ctx.Err() != nil {
				return false
			}
			logger.Info("Going on without a cache that is not required", "resource", health.resource)
		}
	}
	return true
}
