// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestExponents(t *testing.T) {
	fit := &growthFit{}
	for _, size := range []float64{1000, 5000, 10000} {
		fit.add(size, map[string]float64{
			createRate:       800,                        // the same for any number
			listTime:         1e-7 * size * size,         // quadratic
			residentGrowth:   3 * math.Sqrt(size),        // better than linear
			reconcileLatency: 1e-3 * math.Pow(size, 0.1), // a little worse
		})
	}
	want := map[string]float64{
		"exponent of creation": 1, "exponent of the list": 2, "exponent of memory": 0.5, "exponent of reconciliation": 1.1,
	}
	if diff := cmp.Diff(want, fit.exponents(), cmpopts.EquateApprox(0, 0.001)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNoExponentOfOneSize(t *testing.T) {
	fit := &growthFit{}
	fit.add(1000, map[string]float64{createRate: 800, listTime: 1, residentGrowth: 1, reconcileLatency: 1})
	fit.add(5000, map[string]float64{createRate: 800, listTime: 1, residentGrowth: -1, reconcileLatency: 1})
	if exponent, found := fit.exponents()["exponent of memory"]; found {
		t.Errorf("got %v, although the memory has grown at one size only", exponent)
	}
}

func TestGrowthSizes(t *testing.T) {
	for last, want := range map[int][]int{
		1: {1}, 200: {40, 200}, 1000: {200, 1000}, 2000: {1000, 2000}, 10000: {1000, 5000, 10000}, 25000: {1000, 5000, 10000, 25000},
	} {
		if got := growthSizes(last); !slices.Equal(got, want) {
			t.Errorf("up to %d: got %v, want %v", last, got, want)
		}
	}
}
