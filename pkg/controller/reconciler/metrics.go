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

// How a reconcile can end.
const (
	resultSuccess = "success"
	resultRequeue = "requeue"
	resultError   = "error"
)

// Metrics are the metrics that every controller has. Their names begin with the name of the subsystem.
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

// ProcessMetrics returns a function that returns the metrics that the server's /metrics has, see NewMetrics. All controllers of a
// process share them: there is another one each time that the process becomes the leader.
func ProcessMetrics(controller, noun, plural string) func() *Metrics {
	return sync.OnceValue(func() *Metrics {
		m := NewMetrics(controller, noun, plural)
		m.Register(legacyregistry.MustRegister, legacyregistry.CustomMustRegister)
		return m
	})
}

// NewMetrics returns the metrics of the controller of that name, whose objects the noun is for, such as "box". The plural is what
// the metric calls them that counts them. It is empty for objects without a status.
func NewMetrics(controller, noun, plural string) *Metrics {
	subsystem := controller + "_controller"
	m := &Metrics{
		Subsystem: subsystem,
		duration: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Subsystem:      subsystem,
			Name:           "reconcile_duration_seconds",
			Help:           fmt.Sprintf("Time that one look at a %[1]s took, with all that was done about it. The result is success, requeue where the %[1]s will be looked at again soon, or error.", noun),
			StabilityLevel: metrics.ALPHA,
			Buckets:        metrics.ExponentialBuckets(0.0001, 4, 10), // 100µs to 26s: from finding nothing to do to waiting for a busy server
		}, []string{"result"}),
		panics: metrics.NewCounter(&metrics.CounterOpts{
			Subsystem:      subsystem,
			Name:           "reconcile_panics_total",
			Help:           fmt.Sprintf("Number of panics while a %s was reconciled. Each of them is a defect; the log has its stack.", noun),
			StabilityLevel: metrics.ALPHA,
		}),
		childWrites: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      subsystem,
			Name:           "child_writes_total",
			Help:           fmt.Sprintf("Number of writes of children that succeeded, by the child's kind and by what had to be done about it: create, adopt, update, record (of a %s that changed otherwise than in what it asks for), restore, reclaim (of fields that other field managers had taken over unchanged), replace (a deletion and a creation) or prune.", noun),
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "operation"}),
		driftRestored: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      subsystem,
			Name:           "drift_restored_total",
			Help:           fmt.Sprintf("Number of times that fields of a child were put back to what the %s says, by the child's kind and by the field manager that had changed them.", noun),
			StabilityLevel: metrics.ALPHA,
		}, []string{"kind", "manager"}),
		managers: newBoundedLabel(maxManagers),
	}
	if plural != "" {
		m.Objects = newReadinessCollector(controller, plural)
	}
	return m
}

// Register registers the metrics. Of what is measured by result there is a series for each from the start on.
func (m *Metrics) Register(register func(...metrics.Registerable), registerCustom func(...metrics.StableCollector)) {
	register(m.duration, m.panics, m.childWrites, m.driftRestored)
	for _, result := range []string{resultSuccess, resultRequeue, resultError} {
		m.duration.WithLabelValues(result)
	}
	if m.Objects != nil {
		registerCustom(m.Objects)
	}
}

// reconciled observes a reconcile that began then and returned this.
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
