// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package contest has contestants do the same in turn, and records what it took.
package contest

import (
	"context"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/ground"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// Scenario is one thing that contestants are compared in.
type Scenario struct {
	Name string
	// Shows is what it is about, in a sentence.
	Shows string
	// Notes say what else a reader of the report has to know.
	Notes       []string
	Ground      ground.Options
	Figures     []result.Figure
	Comparisons []result.Comparison
	Goals       []result.Goal
	// Size is how many objects there are unless something else is asked for: as many as there is time for when all scenarios
	// are played. QuickSize is how many of them show roughly the same, and FullSize how many the goals are about; 0 where
	// that is Size.
	Size, QuickSize, FullSize int
	// SizeOf names the things that the size counts, such as "watchers"; empty for objects.
	SizeOf string
	// Measure measures on a new control plane, or on one that another scenario has used, which has left its namespaces.
	Measure func(ctx context.Context, r *Run) error
}
