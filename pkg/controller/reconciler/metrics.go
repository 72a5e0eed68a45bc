// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// The results of a reconcile.
const (
	resultSuccess = "success"
	resultRequeue = "requeue"
	resultError   = "error"
)

// Metrics are the common metrics of all controllers. Their names begin with the name of the subsystem.
type Metrics struct {
	Subsystem string
	// Objects counts the objects by whether they are ready. It is nil for objects without a status.
	Objects *ReadinessCollector

	duration      *metrics.HistogramVec
	panics        *metrics.Counter
	childWrites   *metrics.CounterVec
	driftRestored *metrics.CounterVec
	managers      *boundedLabel
}

// ProcessMetrics returns a function that returns the metrics in /metrics of the server, see NewMetrics. All controllers of the process
// share them: the process starts a new controller each time it becomes the leader.
func ProcessMetrics(controller, noun, plural string) func() *Metrics {
	return sync.OnceValue(func() *Metrics {
		m := NewMetrics(controller, noun, plural)
		m.Register(legacyregistry.MustRegister, legacyregistry.CustomMustRegister)
		return m
	})
}

// NewMetrics returns the metrics of a controller. noun is the word for one of its objects, such as "box", and plural the word in the
// name of the metric that counts them. plural is empty for objects without a status.
func NewMetrics(controller, noun, plural string) *Metrics {
	subsystem := controller + "_controller"
	m := &Metrics{
		Subsystem: subsystem,
		duration: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Subsystem:      subsystem,
			Name:           "reconcile_duration_seconds",
			Help:           fmt.Sprintf("Duration of one reconcile of a %[1]s, in seconds, by result: success, requeue if the %[1]s will be reconciled again soon, or error.", noun),
			StabilityLevel: metrics.ALPHA,
			Buckets:        metrics.ExponentialBuckets(0.0001, 4, 10), // 100µs to 26s: from finding nothing to do to waiting for a busy server
		}, []string{"result"}),
		panics: metrics.NewCounter(&metrics.CounterOpts{
			Subsystem:      subsystem,
			Name:           "reconcile_panics_total",
			Help:           fmt.Sprintf("Number of panics during a reconcile of a %s. Each panic is a defect. The log has its stack trace.", noun),
			StabilityLevel: metrics.ALPHA,
		}),
		childWrites: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      subsystem,
			Name:           "child_writes_total",
			Help:           fmt.Sprintf("Number of successful writes of children, by the kind of the child and the operation: create, adopt, update, record (a change of the %s that does not change its render), restore (of drift), reclaim (of fields that other field managers own with the same value), replace (a deletion and a creation) or prune.", noun),
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "operation"}),
		driftRestored: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      subsystem,
			Name:           "drift_restored_total",
			Help:           fmt.Sprintf("Number of times that the controller restored fields of a child to the render of the %s, by the kind of the child and the field manager that had changed them.", noun),
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "manager"}),
		managers: newBoundedLabel(maxManagers),
	}
	if plural != "" {
		m.Objects = newReadinessCollector(controller, plural)
	}
	return m
}

// Register registers the metrics, with a series for every result, so that the first count is an increase from 0.
func (m *Metrics) Register(register func(...metrics.Registerable), registerCustom func(...metrics.StableCollector)) {
	register(m.duration, m.panics, m.childWrites, m.driftRestored)
	for _, result := range []string{resultSuccess, resultRequeue, resultError} {
		m.duration.WithLabelValues(result)
	}
	if m.Objects != nil {
		registerCustom(m.Objects)
	}
}

// reconciled observes a reconcile with its start and its results.
func (m *Metrics) reconciled(begin time.Time, again time.Duration, err error) {
	result := resultSuccess
	switch {
	case err != nil:
		result = resultError
	case again > 0:
		result = resultRequeue
	}
	m.duration.WithLabelValues(result).Observe(time.Since(begin).Seconds())
}

// ChildWritten implements children.Metrics.
func (m *Metrics) ChildWritten(kind, operation string) {
	m.childWrites.WithLabelValues(kind, operation).Inc()
}

// DriftRestored implements children.Metrics.
func (m *Metrics) DriftRestored(kind, manager string) {
	m.driftRestored.WithLabelValues(kind, m.managers.bound(manager)).Inc()
}
