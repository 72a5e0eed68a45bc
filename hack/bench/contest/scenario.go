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
	// Size is how many objects there are unless something else is asked for, QuickSize how many of them show roughly the
	// same.
	Size, QuickSize int
	// Measure measures on a control plane that nobody has used.
	Measure func(ctx context.Context, r *Run) error
}
