// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const metricsSubsystem = "modelbox_snapshot"

var (
	attempts = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "attempts_total",
		Help:           "Number of scheduled snapshots that were tried, by result: success or error.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"result"})
	lastSuccess = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem:      metricsSubsystem,
		Name:           "last_success_timestamp_seconds",
		Help:           "When the last scheduled snapshot was saved, in seconds since the epoch. 0: never.",
		StabilityLevel: metrics.ALPHA,
	})
)

// registerMetrics registers them, with every value of a label: what is counted first is an increase of 0.
var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(attempts, lastSuccess)
	for _, result := range []string{"success", "error"} {
		attempts.WithLabelValues(result)
	}
})
