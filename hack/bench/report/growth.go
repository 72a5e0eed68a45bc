// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// growthPlot shows a figure with more and more objects; nil where it was not measured with several numbers of them. Both axes
// are logarithmic: what grows as a power of the number is a line, whose slope is the exponent.
func growthPlot(s *result.Scenario, figure result.Figure) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = figure.Name
	p.X.Label.Text = "objects"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = steps(func(size float64) string { return humanize.Comma(int64(size)) })
	p.Y.Tick.Marker = steps(func(value float64) string { return Format(value, figure.Unit) })
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(3)
	p.Add(plotter.NewGrid())
	drawn := false
	for i, contestant := range contestantsOf(s) {
		points := growth(s, contestant, figure.Name)
		if len(points) < 2 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("drawing the growth of %s: %w", figure.Name, err)
		}
		line.Color, line.Width = contestantColors[i%len(contestantColors)], vg.Points(1.5)
		dots.Color = line.Color
		p.Add(line, dots)
		p.Legend.Add(contestant, line, dots)
		drawn = true
	}
	if !drawn {
		return nil, nil
	}
	p.Y.Min, p.Y.Max = widen(p.Y.Min, p.Y.Max)
	// There is room for what is written at the last tick.
	p.X.Min, p.X.Max = p.X.Min/1.1, p.X.Max*1.1
	return p, nil
}

// growth returns the median of a figure for each number of objects. A logarithmic axis has no place for figures of 0.
func growth(s *result.Scenario, contestant, figure string) plotter.XYs {
	bySize := map[int][]float64{}
	for _, m := range s.Measurements {
		if value, found := m.Values[figure]; found && m.Contestant == contestant && m.Size > 0 {
			bySize[m.Size] = append(bySize[m.Size], value)
		}
	}
	var points plotter.XYs
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		if median := result.Summarize(bySize[size]).Median; median > 0 {
			points = append(points, plotter.XY{X: float64(size), Y: median})
		}
	}
	return points
}

// steps are ticks at 1, 2 and 5 of every power of ten.
func steps(label func(float64) string) plot.Ticker {
	return plot.TickerFunc(func(least, most float64) []plot.Tick {
		var ticks []plot.Tick
		for _, value := range stepsAround(least, most) {
			if value >= least*(1-rounding) && value <= most*(1+rounding) {
				ticks = append(ticks, plot.Tick{Value: value, Label: label(value)})
			}
		}
		return ticks
	})
}

// rounding is how much of a value is no difference.
const rounding = 1e-9

// stepsAround returns the steps from the power of ten below the least value to that above the largest one.
func stepsAround(least, most float64) []float64 {
	var values []float64
	for power := int(math.Floor(math.Log10(least))); power <= int(math.Floor(math.Log10(most)))+1; power++ {
		for _, step := range []float64{1, 2, 5} {
			values = append(values, step*math.Pow10(power))
		}
	}
	return values
}

// widen returns the steps that two values are between.
func widen(least, most float64) (below, above float64) {
	below, above = least, most
	values := stepsAround(least, most)
	for _, value := range values {
		if value <= least {
			below = value
		}
	}
	for _, value := range slices.Backward(values) {
		if value >= most {
			above = value
		}
	}
	return below, above
}
