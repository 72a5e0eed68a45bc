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
		Help:           "Number of starts of the server, by the situation of the store compared with the Lease and the records in the cluster: Current, New, Empty, Behind or Foreign.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"situation"})
	recoveredBoxes = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "recovered_boxes_total",
		Help:           "Number of boxes that a recovery created, updated, replaced or removed in the store, by action.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"action"})
	recoveredStacks = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "recovered_stacks_total",
		Help:           "Number of stacks that a recovery created, updated, replaced or removed in the store, by action.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"action"})
	absentOwnerCount = metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem:      metricsSubsystem,
		Name:           "absent_owners",
		Help:           "Number of boxes, stacks and Networks that have children in the cluster, but were lost with the store and have no readable record. The server refuses requests for them.",
		StabilityLevel: metrics.ALPHA,
	})
	recoveredNetworks = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem:      metricsSubsystem,
		Name:           "recovered_networks_total",
		Help:           "Number of Networks that a recovery created, updated, replaced or removed in the store, by action.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"action"})
)

// Create the series of every action, so that the first count is an increase from 0.
func init() {
	legacyregistry.MustRegister(starts, absentOwnerCount, recoveredBoxes, recoveredStacks, recoveredNetworks)
	for _, recovered := range []*metrics.CounterVec{recoveredBoxes, recoveredStacks, recoveredNetworks} {
		for _, done := range []action{create, update, replace, remove} {
			recovered.WithLabelValues(string(done))
		}
	}
}
