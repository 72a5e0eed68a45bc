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
	quotaBytes       = newGauge("quota_bytes", "Bytes in use in the embedded etcd from which on the server refuses new boxes, and updates that make boxes larger.")
	inUseBytes       = newGauge("in_use_bytes", "Bytes in use in the embedded etcd, including history that is not compacted yet.")
	diskFreeBytes    = newGauge("disk_free_bytes", "Free bytes on the disk of the data directory.")
	compactions      = newCounter("compactions_total", "Number of compactions of the embedded etcd because of the size of its history. Compactions by age are not counted.")
	defragmentations = newCounter("defragmentations_total", "Number of defragmentations of the embedded etcd since the start of the server.")
	shortages        = metrics.NewGaugeVec(&metrics.GaugeOpts{
		Subsystem:      metricsSubsystem,
		Name:           "shortage",
		Help:           "1 while the server refuses new boxes, and updates that make boxes larger, for the reason: QuotaReached or DiskFull. 0 otherwise.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"reason"})
)

// registerMetrics registers the metrics of the process. A process is expected to run one etcd.
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
