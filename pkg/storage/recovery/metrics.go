// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const metricsSubsystem = "modelbox_store"

var (
	starts = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "starts_total",
		Help:           "Starts of the server on its store by what the store was found to be, compared with what the cluster knows: Current, New, Empty, Behind or Foreign.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"situation"})
	recoveredBoxes = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "recovered_boxes_total",
		Help:           "Boxes that were created, updated, replaced or removed in the store to recover it.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"action"})
	recoveredStacks = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "recovered_stacks_total",
		Help:           "Stacks that were created, updated, replaced or removed in the store to recover it.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"action"})
	absentOwnerCount = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem:      metricsSubsystem,
		Name:           "absent_owners",
		Help:           "Boxes, stacks and networks that children name as their owners, and that were lost with the store and have no readable record. Requests for them are refused.",
		StabilityLevel: metrics.ALPHA,
	})
	recoveredNetworks = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "recovered_networks_total",
		Help:           "Networks that were created, updated, replaced or removed in the store to recover it.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"action"})
)

// Every action has a series from the start on: what is counted first is an increase of 0.
func init() {
	legacyregistry.MustRegister(starts, absentOwnerCount, recoveredBoxes, recoveredStacks, recoveredNetworks)
	for _, recovered := range []*metrics.CounterVec{recoveredBoxes, recoveredStacks, recoveredNetworks} {
		for _, done := range []action{create, update, replace, remove} {
			recovered.WithLabelValues(string(done))
		}
	}
}
