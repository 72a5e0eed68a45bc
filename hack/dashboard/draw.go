// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	// columns is how wide Grafana's grid is.
	columns = 24
	// columnWidth and rowHeight are the size of its cells.
	columnWidth = 0.48 * vg.Inch
	rowHeight   = 0.24 * vg.Inch
	padding     = 0.1 * vg.Inch
	// legendShare is how much of a panel's width its legend has.
	legendShare = 0.36
	// legendLines is how many lines are named, those with the highest values.
	legendLines  = 9
	legendLength = 28
	dotsPerInch  = 110
)

// drawing is a panel with what it shows.
type drawing struct {
	panel panel
	lines []series
}

// draw writes the panels, each at its place, into a PNG.
func draw(drawings []drawing, interval prometheusv1.Range, output string) error {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	rows := 0.0
	for _, d := range drawings {
		rows = max(rows, d.panel.GridPos.Y+d.panel.GridPos.H)
	}
	height := font.Length(rows) * rowHeight
	image := vgimg.NewWith(vgimg.UseWH(columns*columnWidth, height), vgimg.UseDPI(dotsPerInch))
	canvas := vgdraw.New(image)
	for _, d := range drawings {
		at := d.panel.GridPos
		place := vgdraw.Canvas{Canvas: canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: font.Length(at.X)*columnWidth + padding, Y: height - font.Length(at.Y+at.H)*rowHeight + padding},
			Max: vg.Point{X: font.Length(at.X+at.W)*columnWidth - padding, Y: height - font.Length(at.Y)*rowHeight - padding},
		}}
		if err := d.draw(place, interval); err != nil {
			return fmt.Errorf("drawing panel %q: %w", d.panel.Title, err)
		}
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: image}).WriteTo(file); err != nil {
		return err
	}
	return file.Close()
}

func (d *drawing) draw(canvas vgdraw.Canvas, interval prometheusv1.Range) error {
	slices.SortStableFunc(d.lines, func(a, b series) int {
		return cmp.Or(cmp.Compare(b.highest(), a.highest()), cmp.Compare(a.legend, b.legend))
	})
	p, legend := plot.New(), plot.NewLegend()
	p.Title.Text = d.panel.Title
	if len(d.lines) == 0 {
		p.Title.Text += " (no data)"
	}
	p.Title.TextStyle.Font.Size = 9
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Label.Font.Size = 7
	}
	p.X.Min, p.X.Max = float64(interval.Start.Unix()), float64(interval.End.Unix())
	p.X.Tick.Marker = plot.TickerFunc(minutes)
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = plot.TickerFunc(func(least, most float64) []plot.Tick {
		return unitTicks(d.panel.FieldConfig.Defaults.Unit, least, most)
	})
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, color.Gray{Y: 225}
	p.Add(grid)
	legend.TextStyle.Font.Size = 7
	legend.ThumbnailWidth = 10
	legend.Top, legend.Left = true, true
	for i, s := range d.lines {
		line, err := plotter.NewLine(s.points())
		if err != nil {
			return err
		}
		line.Color, line.Width = plotutil.Color(i), 1
		p.Add(line)
		if i < legendLines {
			legend.Add(shorten(s.legend), line)
		}
	}
	p.Y.Max = 1
	if len(d.lines) > 0 {
		p.Y.Max = cmp.Or(1.1*d.lines[0].highest(), 1)
	}
	if more := len(d.lines) - legendLines; more > 0 {
		legend.Add(fmt.Sprintf("and %d more", more))
	}
	width := canvas.Max.X - canvas.Min.X
	p.Draw(vgdraw.Crop(canvas, 0, -legendShare*width, 0, 0))
	legend.Draw(vgdraw.Crop(canvas, (1-legendShare)*width+padding/2, 0, 0, -2*padding))
	return nil
}

// highest is the highest value that a line has.
func (s *series) highest() float64 {
	highest := 0.0
	for _, at := range s.values {
		if value := float64(at.Value); !math.IsNaN(value) {
			highest = max(highest, value)
		}
	}
	return highest
}

// points returns the points of a line. It leaves out values that are not a number, such as the quantile of nothing.
func (s *series) points() plotter.XYs {
	var points plotter.XYs
	for _, at := range s.values {
		if value := float64(at.Value); !math.IsNaN(value) && !math.IsInf(value, 0) {
			points = append(points, plotter.XY{X: float64(at.Timestamp.Unix()), Y: value})
		}
	}
	return points
}

// minutes are the ticks of the time, at every second full minute.
func minutes(least, most float64) []plot.Tick {
	const step = 120
	var ticks []plot.Tick
	for at := math.Ceil(least/step) * step; at <= most; at += step {
		ticks = append(ticks, plot.Tick{Value: at, Label: time.Unix(int64(at), 0).UTC().Format("15:04")})
	}
	return ticks
}

// unitTicks are the ticks of values of a unit of Grafana.
func unitTicks(unit string, least, most float64) []plot.Tick {
	scale := 1.0
	if unit == "bytes" {
		scale = 1 << 20 // for numbers that are round as they are written
	}
	ticks := plot.DefaultTicks{}.Ticks(least/scale, most/scale)
	for i := range ticks {
		ticks[i].Value *= scale
		if ticks[i].Label != "" {
			ticks[i].Label = format(unit, ticks[i].Value)
		}
	}
	return ticks
}

func format(unit string, value float64) string {
	number := func(value float64) string { return strconv.FormatFloat(value, 'g', 3, 64) }
	switch {
	case value == 0:
		return "0"
	case unit == "reqps" || unit == "ops":
		return number(value) + "/s"
	case unit == "s" && value >= 48*60*60:
		return strconv.Itoa(int(math.Round(value/60/60/24))) + " d"
	case unit == "s" && value >= 120:
		return strconv.Itoa(int(math.Round(value/60))) + " min"
	case unit == "s" && value < 1:
		return number(value*1000) + " ms"
	case unit == "s":
		return number(value) + " s"
	case unit == "bytes" && value >= 1<<30:
		return number(value/(1<<30)) + " GiB"
	case unit == "bytes":
		return strconv.Itoa(int(math.Round(value/(1<<20)))) + " MiB"
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// shorten keeps both ends of a text, which are what differs.
func shorten(legend string) string {
	if len(legend) <= legendLength {
		return legend
	}
	return legend[:legendLength/2] + "…" + legend[len(legend)-legendLength/2+1:]
}
