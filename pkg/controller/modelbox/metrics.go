// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// controllerMetrics is what the controller counts and measures.
type controllerMetrics struct {
	*reconciler.Metrics
	boxes *boxCollector
}

// processMetrics are those that the server's /metrics has. All controllers of a process share them: there is another
// one each time that the process becomes the leader.
var processMetrics = sync.OnceValue(func() *controllerMetrics {
	m := newControllerMetrics()
	m.register(legacyregistry.MustRegister, legacyregistry.CustomMustRegister)
	return m
})

func newControllerMetrics() *controllerMetrics {
	return &controllerMetrics{Metrics: reconciler.NewMetrics(Name, noun), boxes: &boxCollector{}}
}

func (m *controllerMetrics) register(register func(...metrics.Registerable), registerCustom func(...metrics.StableCollector)) {
	m.Register(register)
	registerCustom(m.boxes)
}
