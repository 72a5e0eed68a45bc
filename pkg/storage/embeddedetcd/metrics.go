// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package embeddedetcd

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const metricsSubsystem = "modelbox_storage"

var (
	quotaBytes       = newGauge("quota_bytes", "How much of the embedded etcd boxes may fill before new ones, and ones that grow, are refused.")
	inUseBytes       = newGauge("in_use_bytes", "How much of the embedded etcd is in use, with history that is not compacted yet.")
	diskFreeBytes    = newGauge("disk_free_bytes", "Free space of the disk that the data directory is on.")
	compactions      = newCounter("compactions_total", "Number of compactions of the embedded etcd because of how much history there was. Those by its age are not counted.")
	defragmentations = newCounter("defragmentations_total", "Number of defragmentations of the embedded etcd while it served.")
	shortages        = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem:      metricsSubsystem,
		Name:           "shortage",
		Help:           "1 while new boxes, and ones that grow, are refused for this reason: QuotaReached or DiskFull.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"reason"})
)

// registerMetrics makes the metrics those of the process, of which one etcd is expected.
var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(quotaBytes, inUseBytes, diskFreeBytes, compactions, defragmentations, shortages)
})

func newGauge(name, help string) *metrics.Gauge {
	return metrics.NewGauge(&metrics.GaugeOpts{Subsystem: metricsSubsystem, Name: name, Help: help, StabilityLevel: metrics.ALPHA})
}

func newCounter(name, help string) *metrics.Counter {
	return metrics.NewCounter(&metrics.CounterOpts{Subsystem: metricsSubsystem, Name: name, Help: help, StabilityLevel: metrics.ALPHA})
}

func setShortage(reason Reason, isShort bool) {
	var value float64
	if isShort {
		value = 1
	}
	shortages.WithLabelValues(string(reason)).Set(value)
}
