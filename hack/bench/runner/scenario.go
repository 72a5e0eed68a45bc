// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package runner runs scenarios: it measures each contestant in turn, and records the measurements.
package runner

import (
	"context"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Scenario is one comparison of contestants.
type Scenario struct {
	Name string
	// Shows is a sentence about the purpose of the scenario.
	Shows string
	// Notes are further information for readers of the report.
	Notes       []string
	Testbed     testbed.Options
	Figures     []result.Figure
	Comparisons []result.Comparison
	Goals       []result.Goal
	// Size is the default number of objects, for a run of all scenarios. QuickSize is a number that shows roughly the same, and
	// FullSize the number that the goals are about, 0 for Size.
	Size, QuickSize, FullSize int
	// SizeOf is the plural of what the size counts, such as "watchers". Empty means objects.
	SizeOf string
	// Measure runs the measurements on a new control plane, or on the control plane of a former scenario with its namespaces.
	Measure func(ctx context.Context, r *Run) error
}
