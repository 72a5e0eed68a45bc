// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// controllerMetrics are the metrics of the controller.
type controllerMetrics struct {
	*reconciler.Metrics
	failedRollouts    *metrics.CounterVec
	prometheusQueries *metrics.CounterVec
}

// processMetrics are the metrics in /metrics of the server. All controllers of the process share them: the process starts a new
// controller each time it becomes the leader.
var processMetrics = sync.OnceValue(func() *controllerMetrics {
	m := newControllerMetrics()
	m.register(legacyregistry.MustRegister, legacyregistry.CustomMustRegister)
	return m
})

func newControllerMetrics() *controllerMetrics {
	return &controllerMetrics{
		Metrics: reconciler.NewMetrics(Name, noun, "boxes"),
		failedRollouts: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      Name + "_controller",
			Name:           "failed_rollouts_total",
			Help:           "Number of failed rollouts of boxes with spec.rollout, by the resulting phase: Failed (no action), Paused or RolledBack.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"phase"}),
		prometheusQueries: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem:      Name + "_controller",
			Name:           "prometheus_queries_total",
			Help:           "Number of queries of checks of rollouts to Prometheus, by result: success, refused if Prometheus reports an error in the query, or error.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"result"}),
	}
}

func (m *controllerMetrics) register(register func(...metrics.Registerable), registerCustom func(...metrics.StableCollector)) {
	m.Register(register, registerCustom)
	register(m.failedRollouts, m.prometheusQueries)
	for _, phase := range []modelv1.RolloutPhase{modelv1.RolloutFailed, modelv1.RolloutPaused, modelv1.RolloutRolledBack} {
		m.failedRollouts.WithLabelValues(string(phase))
	}
	for _, result := range []string{querySuccess, queryRefused, queryError} {
		m.prometheusQueries.WithLabelValues(result)
	}
}
