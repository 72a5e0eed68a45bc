// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const metricsSubsystem = "modelbox_controller"

// controllerMetrics is what the controller counts and measures.
type controllerMetrics struct {
	reconcileDuration *metrics.HistogramVec
	panics            *metrics.Counter
	childWrites       *metrics.CounterVec
	driftRestored     *metrics.CounterVec
	managers          *boundedLabel
	boxes             *boxCollector
}

// processMetrics are those that the server's /metrics has. All controllers of a process share them: there is another
// one each time that the process becomes the leader.
var processMetrics = sync.OnceValue(func() *controllerMetrics {
	m := newControllerMetrics()
	m.register(legacyregistry.MustRegister, legacyregistry.CustomMustRegister)
	return m
})

func newControllerMetrics() *controllerMetrics {
	return &controllerMetrics{
		reconcileDuration: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Subsystem:      metricsSubsystem,
			Name:           "reconcile_duration_seconds",
			Help:           "Time that one look at a box took, with all that was done about it. The result is success, requeue where the box will be looked at again soon, or error.",
			StabilityLevel: metrics.ALPHA,
			Buckets:        metrics.ExponentialBuckets(0.0001, 4, 10), // 100µs to 26s: from finding nothing to do to waiting for a busy server
		}, []string{"result"}),
		panics: metrics.NewCounter(&metrics.CounterOpts{
			Subsystem:      metricsSubsystem,
			Name:           "reconcile_panics_total",
			Help:           "Number of panics while a box was reconciled. Each of them is a defect; the log has its stack.",
			StabilityLevel: metrics.ALPHA,
		}),
		childWrites: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      metricsSubsystem,
			Name:           "child_writes_total",
			Help:           "Number of writes of children that succeeded, by the child's kind and by what had to be done about it: create, adopt, update, record (of a box that changed otherwise than in what it asks for), restore, reclaim (of fields that others had taken over unchanged), replace (a deletion and a creation) or prune.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "operation"}),
		driftRestored: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      metricsSubsystem,
			Name:           "drift_restored_total",
			Help:           "Number of times that fields of a child were put back to what the box says, by the child's kind and by the field manager that had changed them.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "manager"}),
		managers: newBoundedLabel(maxManagers),
		boxes:    &boxCollector{},
	}
}

func (m *controllerMetrics) register(register func(...metrics.Registerable), registerCustom func(...metrics.StableCollector)) {
	register(m.reconcileDuration, m.panics, m.childWrites, m.driftRestored)
	registerCustom(m.boxes)
}

// reconciled observes a reconcile that began then and returned this.
func (m *controllerMetrics) reconciled(begin time.Time, again time.Duration, err error) {
	result := "success"
	switch {
	case err != nil:
		result = "error"
	case again > 0:
		result = "requeue"
	}
	m.reconcileDuration.WithLabelValues(result).Observe(time.Since(begin).Seconds())
}

// ChildWritten implements children.Metrics.
func (m *controllerMetrics) ChildWritten(kind, operation string) {
	m.childWrites.WithLabelValues(kind, operation).Inc()
}

// DriftRestored implements children.Metrics.
func (m *controllerMetrics) DriftRestored(kind, manager string) {
	m.driftRestored.WithLabelValues(kind, m.managers.bound(manager)).Inc()
}
