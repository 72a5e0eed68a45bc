// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package report shows results to people: a table in the terminal, a page in Markdown, and plots.
package report

import (
	"math"
	"strconv"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// Format writes a value with three digits, in the largest unit that leaves something before the point.
func Format(value float64, unit result.Unit) string {
	switch unit {
	case result.Seconds:
		return scaledDown(value, 1000, []string{"s", "ms", "µs"})
	case result.Bytes:
		return scaledUp(value, 1024, []string{"B", "KiB", "MiB", "GiB"})
	case result.PerSecond:
		return digits(value) + "/s"
	default:
		return digits(value)
	}
}

func scaledDown(value, step float64, units []string) string {
	i := 0
	for ; i < len(units)-1 && value != 0 && math.Abs(value) < 1; i++ {
		value *= step
	}
	return digits(value) + " " + units[i]
}

func scaledUp(value, step float64, units []string) string {
	i := 0
	for ; i < len(units)-1 && math.Abs(value) >= step; i++ {
		value /= step
	}
	return digits(value) + " " + units[i]
}

// Ratio writes how many times as much something is.
func Ratio(value float64) string { return digits(value) + " ×" }

// digits writes three of them, and all that are before the point.
func digits(value float64) string {
	if value == 0 {
		return "0"
	}
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(value)))))
	return strconv.FormatFloat(value, 'f', min(decimals, 4), 64)
}
