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
	Help:           "1 if the cache of the resource has synced and its watch works, 0 if not, for example without the permission to watch. Absent for a resource that the cluster does not serve. Only the leader, or a former leader, has it.",
	StabilityLevel: metrics.ALPHA,
}, []string{"resource"})

var registerMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(cacheSynced) })

// recordSynced sets whether the caches of a resource have synced and their watches work.
func recordSynced(resource schema.GroupResource, synced bool) {
	value := 0.0
	if synced {
		value = 1
	}
	cacheSynced.WithLabelValues(resource.String()).Set(value)
}

// forgetSynced removes a resource that the cluster does not serve from the metric.
func forgetSynced(resource schema.GroupResource) {
	cacheSynced.Delete(map[string]string{"resource": resource.String()})
}
