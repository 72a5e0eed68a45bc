// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"slices"
	"time"
)

// attempts is the number of runs of a plan after which it does not break a promise. If several goroutines can run at the same time,
// the Go runtime chooses the order by chance, so that two runs of the same plan can differ.
const attempts = 3

// Shrink returns the plan without the actions and failures that are not necessary to break the promise. It calls run to run plans, and
// stops after the limit.
func Shrink(plan Plan, promise string, limit time.Duration, run func(Plan) *Result) Plan {
	end := time.Now().Add(limit)
	breaks := func(plan Plan) bool {
		for range attempts {
			if time.Now().After(end) {
				return false
			}
			if slices.ContainsFunc(run(plan).Violations, func(violation Violation) bool { return violation.Promise == promise }) {
				return true
			}
		}
		return false
	}
	for size := len(plan.Actions) / 2; size > 0; size /= 2 {
		for first := 0; first < len(plan.Actions); first += size {
			smaller := plan
			smaller.Actions = slices.Delete(slices.Clone(plan.Actions), first, min(first+size, len(plan.Actions)))
			if len(smaller.Actions) > 0 && breaks(smaller) {
				plan = smaller
				first -= size
			}
		}
	}
	for _, simplify := range []func(*Plan){
		func(p *Plan) { p.Servers = 1 },
		func(p *Plan) { p.Chaos.Kills = 0 },
		func(p *Plan) { p.Chaos.Cuts = 0 },
		func(p *Plan) { p.Chaos.Breaks = 0 },
		func(p *Plan) { p.Chaos.Compactions = 0 },
		func(p *Plan) { p.Chaos.Jumps = 0 },
		func(p *Plan) { p.Chaos.Refused, p.Chaos.Unanswered = 0, 0 },
		func(p *Plan) { p.Chaos.Time = 0 },
	} {
		smaller := plan
		if simplify(&smaller); breaks(smaller) {
			plan = smaller
		}
	}
	return plan
}
