// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cachehealth

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var cacheSynced = metrics.NewGaugeVec(&metrics.GaugeOpts{
	Subsystem:      "modelbox_controller",
	Name:           "cache_synced",
	Help:           "1 when the cache of a resource has synced and follows its API server, 0 when it does not, as when a permission is missing; absent for a resource that the cluster does not serve. Of the server that leads, or did last.",
	StabilityLevel: metrics.ALPHA,
}, []string{"resource"})

var registerMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(cacheSynced) })

// recordSynced records whether the caches of a resource have synced and follow their API server.
func recordSynced(resource schema.GroupResource, synced bool) {
	value := 0.0
	if synced {
		value = 1
	}
	cacheSynced.WithLabelValues(resource.String()).Set(value)
}

// forgetSynced takes a resource that the cluster does not serve out of the metric.
func forgetSynced(resource schema.GroupResource) {
	cacheSynced.Delete(map[string]string{"resource": resource.String()})
}
