// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// costs are what all boxes together cost, of which there is an exponent each.
var costs = []struct {
	exponent, figure string
	// of returns the cost of so many boxes where the figure is that. With a rate that is always the same, twice as many boxes
	// take twice as long to create.
	of func(size, figure float64) float64
}{
	{"exponent of creation", createRate, func(size, rate float64) float64 { return size / rate }},
	{"exponent of the list", listTime, func(_, time float64) float64 { return time }},
	{"exponent of memory", residentGrowth, func(_, bytes float64) float64 { return bytes }},
	{"exponent of reconciliation", reconcileLatency, func(size, latency float64) float64 { return size * latency }},
}

// growthFit has the figures of one round at several sizes.
type growthFit struct {
	sizes   []float64
	figures []map[string]float64
}

func (f *growthFit) add(size float64, figures map[string]float64) {
	f.sizes, f.figures = append(f.sizes, size), append(f.figures, figures)
}

// exponents returns, for each cost that was above nothing at two sizes at least, the exponent of the power function of the size
// that comes nearest to it: a line where both axes are logarithmic.
func (f *growthFit) exponents() map[string]float64 {
	exponents := map[string]float64{}
	for _, c := range costs {
		var x, y []float64
		for i, size := range f.sizes {
			if cost := c.of(size, f.figures[i][c.figure]); cost > 0 {
				x, y = append(x, math.Log(size)), append(y, math.Log(cost))
			}
		}
		if len(x) > 1 {
			_, exponents[c.exponent] = stat.LinearRegression(x, y, nil, false)
		}
	}
	return exponents
}
