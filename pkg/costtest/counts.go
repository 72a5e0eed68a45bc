// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package costtest

import (
	"fmt"
	"maps"
	"slices"
)

// Unit is a unit of counts.
type Unit string

const (
	// Allocations are objects that the process allocates.
	Allocations Unit = "allocations"
	// Bytes are bytes in a store or in a response.
	Bytes Unit = "bytes"
	// Requests are requests to another server.
	Requests Unit = "requests"
)

// tolerance is by how many percent a count may exceed the count of the release. No request may be added. The number of allocations
// depends a little on the libraries and on background work, and the number of bytes on the digits of a resource version.
var tolerance = map[Unit]float64{Allocations: 5, Bytes: 5, Requests: 0}

// Counts are counts by unit and name.
type Counts map[Unit]map[string]int64

// set sets a count.
func (c Counts) set(unit Unit, name string, count int64) {
	if c[unit] == nil {
		c[unit] = map[string]int64{}
	}
	c[unit][name] = count
}

// comparison is the difference between counts and the counts of a release.
type comparison struct {
	// exceeded has a line for each count that costs too much or cannot be compared.
	exceeded []string
	// lower has a line for each count that is so much lower that the count of the release should be lowered.
	lower []string
}

// compare compares counts with the counts of a release. A request without a count of the release had none.
func compare(release string, want, got Counts) comparison {
	var c comparison
	for _, unit := range []Unit{Allocations, Bytes, Requests} {
		for _, name := range sortedNames(want[unit], got[unit]) {
			before, isKnown := want[unit][name]
			now, isMeasured := got[unit][name]
			switch {
			case !isMeasured && unit != Requests:
				c.exceeded = append(c.exceeded, fmt.Sprintf("%s, %s: not measured, in %s %d", name, unit, release, before))
			case !isKnown && unit != Requests:
				c.exceeded = append(c.exceeded, fmt.Sprintf("%s, %s: %d, in %s not measured", name, unit, now, release))
			case exceeds(now, before, tolerance[unit]):
				c.exceeded = append(c.exceeded, fmt.Sprintf("%s, %s: %d, in %s %d%s", name, unit, now, release, before, percent(now, before)))
			case exceeds(before, now, tolerance[unit]):
				c.lower = append(c.lower, fmt.Sprintf("%s, %s: %d, in %s %d%s", name, unit, now, release, before, percent(now, before)))
			}
		}
	}
	return c
}

func sortedNames(counts ...map[string]int64) []string {
	names := map[string]struct{}{}
	for _, counts := range counts {
		for name := range counts {
			names[name] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// exceeds returns whether one is greater than other by more than so many percent of the other.
func exceeds(one, other int64, percent float64) bool {
	return float64(one-other)*100 > percent*float64(other)
}

// percent returns by how much a count differs from the count of the release, or nothing if that is zero.
func percent(now, before int64) string {
	if before == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.1f %%)", float64(now-before)*100/float64(before))
}
