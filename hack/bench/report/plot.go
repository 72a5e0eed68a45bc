// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"image/color"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

const (
	plotWidth  = 14 * vg.Centimeter
	plotHeight = 8 * vg.Centimeter
)

// contestantColors differ for people with color blindness, and in print.
var contestantColors = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
	color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
	color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
	color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff},
}

// plotFile is a plot in the folder of the report.
type plotFile struct{ title, file string }

// drawPlots draws the plots of each scenario, by its name.
func drawPlots(dir string, r *result.Result) (map[string][]plotFile, error) {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	drawn := map[string][]plotFile{}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		for _, of := range s.Cases() {
			p, err := latencyPlot(s, of)
			if err != nil {
				return nil, err
			}
			if err := save(drawn, dir, s.Name, of, p); err != nil {
				return nil, err
			}
		}
		for _, figure := range s.Figures {
			p, err := growthPlot(s, figure)
			if err != nil {
				return nil, err
			}
			if err := save(drawn, dir, s.Name, figure.Name, p); err != nil {
				return nil, err
			}
		}
	}
	return drawn, nil
}

// save draws a plot, if there is one, into the folder, and adds it to the plots of the scenario.
func save(drawn map[string][]plotFile, dir, scenario, of string, p *plot.Plot) error {
	if p == nil {
		return nil
	}
	file := plotFile{title: p.Title.Text, file: fileName(scenario, of)}
	if err := p.Save(plotWidth, plotHeight, filepath.Join(dir, file.file)); err != nil {
		return fmt.Errorf("drawing %s: %w", file.title, err)
	}
	drawn[scenario] = append(drawn[scenario], file)
	return nil
}

func fileName(scenario, of string) string {
	return strings.NewReplacer(", ", "-", " ", "-", "/", "-").Replace(scenario+"-"+of) + ".svg"
}

// quantiles are those that the axis names.
var quantiles = []struct {
	quantile float64
	label    string
}{{0, "0"}, {50, "50 %"}, {90, "90 %"}, {99, "99 %"}, {99.9, "99.9 %"}}

// latencyPlot shows how long which share of the requests took; nil where no latencies were recorded. As HdrHistogram draws
// it, each nine has the same room.
func latencyPlot(s *result.Scenario, of string) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "Latency of " + of
	p.Y.Label.Text = "ms"
	p.Y.Min = 0
	p.X.Label.Text = "share of the requests"
	p.X.Scale = plot.LogScale{}
	var ticks plot.ConstantTicks
	for _, q := range quantiles {
		ticks = append(ticks, plot.Tick{Value: tail(q.quantile), Label: q.label})
	}
	p.X.Tick.Marker = ticks
	p.Y.Tick.Marker = plot.TickerFunc(milliseconds)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(3)
	p.Add(plotter.NewGrid())
	drawn := false
	for i, contestant := range contestantsOf(s) {
		latency, err := s.Latency(of, contestant)
		if err != nil {
			return nil, err
		}
		if latency == nil {
			continue
		}
		line, err := plotter.NewLine(distribution(latency))
		if err != nil {
			return nil, fmt.Errorf("drawing latencies of %s: %w", of, err)
		}
		line.Color, line.Width = contestantColors[i%len(contestantColors)], vg.Points(1.5)
		p.Add(line)
		p.Legend.Add(contestant, line)
		drawn = true
	}
	if !drawn {
		return nil, nil
	}
	p.X.Min, p.X.Max = 1, tail(99.9)
	p.Y.Max *= 1.1
	return p, nil
}

// milliseconds are the usual ticks, written as in the tables.
func milliseconds(least, most float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(least, most)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'g', -1, 64)
		}
	}
	return ticks
}

// tail is how many requests there are for each one that takes longer.
func tail(quantile float64) float64 { return 100 / (100 - quantile) }

func distribution(latency *hdrhistogram.Histogram) plotter.XYs {
	var points plotter.XYs
	for _, bracket := range latency.CumulativeDistribution() {
		if bracket.Quantile <= 99.9 {
			points = append(points, plotter.XY{X: tail(bracket.Quantile), Y: float64(bracket.ValueAt) / 1000})
		}
	}
	return points
}
