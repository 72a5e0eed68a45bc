// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/plot/plotter"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// grown is a scenario with three numbers of objects, and one figure that has nothing to do with them.
func grown() *result.Scenario {
	of := func(size, round int, figure string, value float64) result.Measurement {
		return result.Measurement{Case: "any", Contestant: "ModelBox", Size: size, Round: round, Values: map[string]float64{figure: value}}
	}
	return &result.Scenario{
		Name:    "growth",
		Figures: []result.Figure{{Name: "create to Ready, p50", Unit: result.Seconds}, {Name: "exponent", Unit: result.Count}},
		Measurements: []result.Measurement{
			of(10000, 0, "create to Ready, p50", 0.030), of(1000, 0, "create to Ready, p50", 0.010),
			of(1000, 1, "create to Ready, p50", 0.014), of(10000, 1, "create to Ready, p50", 0.026),
			of(5000, 0, "create to Ready, p50", 0), of(0, 0, "exponent", 1),
		},
	}
}

func TestGrowthIsTheMedianOfEachSize(t *testing.T) {
	want := plotter.XYs{{X: 1000, Y: 0.012}, {X: 10000, Y: 0.028}}
	if diff := cmp.Diff(want, growth(grown(), "ModelBox", "create to Ready, p50"), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestGrowthIsDrawn(t *testing.T) {
	dir := t.TempDir()
	drawn, err := drawPlots(dir, &result.Result{Scenarios: []result.Scenario{*grown()}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]plotFile{"growth": {{"create to Ready, p50", "growth-create-to-Ready-p50.svg"}}}
	if diff := cmp.Diff(want, drawn, cmp.AllowUnexported(plotFile{})); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	content, err := os.ReadFile(filepath.Join(dir, want["growth"][0].file))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{">1,000<", ">10,000<", ">10.0 ms<", ">50.0 ms<", ">ModelBox<"} {
		if !strings.Contains(string(content), text) {
			t.Errorf("the plot has no %q", text)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, row := range []struct {
		least, most float64
		want        []float64
	}{
		{1, 10, []float64{1, 2, 5, 10}},
		{0.012, 0.3, []float64{0.02, 0.05, 0.1, 0.2}},
		{900, 5000, []float64{1000, 2000, 5000}},
		{3, 4, nil},
	} {
		var got []float64
		for _, tick := range steps(func(float64) string { return "" }).Ticks(row.least, row.most) {
			got = append(got, tick.Value)
		}
		if !slices.EqualFunc(got, row.want, func(a, b float64) bool { return a > b*(1-rounding) && a < b*(1+rounding) }) {
			t.Errorf("from %v to %v: got %v, want %v", row.least, row.most, got, row.want)
		}
	}
}

func TestWiden(t *testing.T) {
	for _, row := range []struct{ least, most, below, above float64 }{
		{3, 4, 2, 5},
		{0.012, 0.028, 0.01, 0.05},
		{1, 1, 1, 1},
		{600, 2001, 500, 5000},
	} {
		below, above := widen(row.least, row.most)
		if math.Abs(below/row.below-1) > rounding || math.Abs(above/row.above-1) > rounding {
			t.Errorf("%v and %v are between %v and %v, want %v and %v", row.least, row.most, below, above, row.below, row.above)
		}
	}
}
