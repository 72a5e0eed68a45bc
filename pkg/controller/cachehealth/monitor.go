// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cachehealth

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// checkPeriod is how often the caches are checked.
const checkPeriod = time.Second

// Monitor checks the caches of shared informers, each once, however many controllers depend on it. All dependencies have
// to be added before Run.
type Monitor struct {
	caches []*sharedCache
}

// NewMonitor returns a monitor of no cache.
func NewMonitor() *Monitor {
	registerMetrics()
	return &Monitor{}
}

// cacheOf returns the cache of an informer that is not started yet, and takes note of its failures from then on.
func (m *Monitor) cacheOf(resource schema.GroupResource, informer cache.SharedIndexInformer) (*sharedCache, error) {
	for _, known := range m.caches {
		// Factories return another wrapper of the same informer for each call.
		if known.store == informer.GetStore() {
			return known, nil
		}
	}
	added := &sharedCache{
		resource:  resource,
		store:     informer.GetStore(),
		hasSynced: informer.HasSynced,
		version:   informer.LastSyncResourceVersion,
	}
	if optional, ok := informer.(interface{ IsServed() bool }); ok {
		added.isServed = optional.IsServed
	}
	if err := informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		added.failed(time.Now(), err)
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}); err != nil {
		return nil, fmt.Errorf("watching the health of the cache of %s: %w", resource, err)
	}
	m.caches = append(m.caches, added)
	return added, nil
}

// Run logs which caches fail, and keeps their metric, until ctx is done. It has to be called when the informers start.
func (m *Monitor) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	for _, c := range m.caches {
		c.started(time.Now())
	}
	ticker := time.NewTicker(checkPeriod)
	defer ticker.Stop()
	for {
		m.check(logger)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (m *Monitor) check(logger klog.Logger) {
	follow := map[schema.GroupResource]bool{}
	for _, c := range m.caches {
		failure := c.failure(time.Now())
		c.log(logger, failure)
		if c.isServed != nil && c.hasSynced() && !c.isServed() {
			forgetSynced(c.resource)
			continue
		}
		others, isKnown := follow[c.resource]
		follow[c.resource] = failure == nil && c.hasSynced() && (others || !isKnown)
	}
	for resource, follows := range follow {
		recordSynced(resource, follows)
	}
}
