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
		Help:           "Number of attempts to save a scheduled snapshot, by result: success or error.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"result"})
	lastSuccess = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem:      metricsSubsystem,
		Name:           "last_success_timestamp_seconds",
		Help:           "Time at which the last scheduled snapshot was saved, in seconds since the epoch. 0 if there is none.",
		StabilityLevel: metrics.ALPHA,
	})
)

// registerMetrics registers the metrics, with a series for every value of a label, so that the first count is an increase from 0.
var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(attempts, lastSuccess)
	for _, result := range []string{"success", "error"} {
		attempts.WithLabelValues(result)
	}
})
