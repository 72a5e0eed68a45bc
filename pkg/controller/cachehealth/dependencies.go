// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cachehealth

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Dependencies are the caches that one controller depends on.
type Dependencies struct {
	monitor *Monitor
	caches  []dependency
}

type dependency struct {
	*sharedCache
	// isRequired is whether the controller cannot work without the cache.
	isRequired bool
	// handlerHasSynced is whether the controller's event handler has seen what the cache had at first.
	handlerHasSynced cache.InformerSynced
}

// NewDependencies returns the dependencies of a controller, which are empty at first.
func (m *Monitor) NewDependencies() *Dependencies {
	return &Dependencies{monitor: m}
}

// AddRequired adds the cache of an informer that is not started yet. The controller cannot work without it. handlerHasSynced is
// HasSynced of the registration of the event handler of the controller.
func (d *Dependencies) AddRequired(resource schema.GroupResource, informer cache.SharedIndexInformer, handlerHasSynced cache.InformerSynced) error {
	c, err := d.monitor.cacheOf(resource, informer)
	if err != nil {
		return err
	}
	c.require()
	d.caches = append(d.caches, dependency{c, true, handlerHasSynced})
	return nil
}

// AddOptional adds the cache of an informer that is not started yet, without which the controller works all the same.
func (d *Dependencies) AddOptional(resource schema.GroupResource, informer cache.SharedIndexInformer, handlerHasSynced cache.InformerSynced) error {
	c, err := d.monitor.cacheOf(resource, informer)
	if err != nil {
		return err
	}
	d.caches = append(d.caches, dependency{c, false, handlerHasSynced})
	return nil
}

// CheckHealth returns why the controller cannot work, nil when it can, or when nothing is wrong so far.
func (d *Dependencies) CheckHealth() error {
	var failures []error
	for _, c := range d.caches {
		if !c.isRequired {
			continue
		}
		if err := c.failure(time.Now()); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// HasSynced returns whether every cache has synced that the controller needs.
func (d *Dependencies) HasSynced() bool {
	return !slices.ContainsFunc(d.caches, func(c dependency) bool { return c.isRequired && !c.handlerHasSynced() })
}

// WaitForSync waits until every cache has synced. One that is optional is waited for as long as it may fail. It returns
// false when ctx is done before.
func (d *Dependencies) WaitForSync(ctx context.Context) bool {
	logger := klog.FromContext(ctx)
	logger.Info("Waiting for caches to sync")
	optional, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	for _, c := range d.caches {
		limit := ctx
		if !c.isRequired {
			limit = optional
		}
		if !cache.WaitForCacheSync(limit.Done(), c.handlerHasSynced) {
			if ctx.Err() != nil {
				return false
			}
			logger.Info("Continuing without an optional cache", "resource", c.resource)
		}
	}
	return true
}

// Watch checks the caches until ctx is done. It returns ErrCacheNotSynced when an API server refuses one that is
// required.
func (d *Dependencies) Watch(ctx context.Context) error {
	ticker := time.NewTicker(checkPeriod)
	defer ticker.Stop()
	for {
		if err := d.CheckHealth(); errors.Is(err, ErrCacheNotSynced) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
