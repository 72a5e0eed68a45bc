// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Summary is what several rounds have in common.
type Summary struct {
	Median, Min, Max float64
	// Rounds is how many there were; a summary of none has nothing else.
	Rounds int
}

// Summarize returns the summary of one value a round.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Summary{
		// Of an even number of values, the middle between the two in the middle.
		Median: (stat.Quantile(0.5, stat.Empirical, sorted, nil) + sorted[len(sorted)/2]) / 2,
		Min:    sorted[0],
		Max:    sorted[len(sorted)-1],
		Rounds: len(sorted),
	}
}

// Cases are the cases of the scenario, in the order in which they were first measured.
func (s *Scenario) Cases() []string {
	return s.distinct(func(m *Measurement) string { return m.Case })
}

// Contestants are the contestants of a case, in the order in which they were first measured.
func (s *Scenario) Contestants(of string) []string {
	return s.distinct(func(m *Measurement) string {
		if m.Case != of {
			return ""
		}
		return m.Contestant
	})
}

func (s *Scenario) distinct(key func(*Measurement) string) []string {
	var found []string
	for i := range s.Measurements {
		if k := key(&s.Measurements[i]); k != "" && !slices.Contains(found, k) {
			found = append(found, k)
		}
	}
	return found
}

// Summary returns what all rounds say about a figure of a contestant.
func (s *Scenario) Summary(of, contestant, figure string) Summary {
	var values []float64
	for _, value := range s.byRound(of, contestant, figure) {
		values = append(values, value)
	}
	return Summarize(values)
}

// Ratio returns the ratios of our figure to the figure of the peer in the same round, over all rounds. Both were measured one
// directly after the other, so that other load on the machine affects both. A round in which the figure of the peer is not above 0
// has no ratio.
func (s *Scenario) Ratio(of string, comparison Comparison, figure string) Summary {
	peer := s.byRound(of, comparison.Peer, figure)
	var ratios []float64
	for round, ours := range s.byRound(of, comparison.Ours, figure) {
		if theirs, found := peer[round]; found && theirs > 0 {
			ratios = append(ratios, ours/theirs)
		}
	}
	return Summarize(ratios)
}

func (s *Scenario) byRound(of, contestant, figure string) map[int]float64 {
	values := map[int]float64{}
	for _, m := range s.Measurements {
		if m.Case != of || m.Contestant != contestant {
			continue
		}
		if value, found := m.Values[figure]; found {
			values[m.Round] = value
		}
	}
	return values
}

// Verdict is what has become of a goal in one case.
type Verdict struct {
	Goal Goal
	Case string
	// Measured is the figure, or the ratio where the goal has a peer.
	Measured Summary
	Met      bool
}

// Verdicts returns what has become of each goal in each case that it is for, of what was measured.
func (s *Scenario) Verdicts() []Verdict {
	var verdicts []Verdict
	for _, of := range s.Cases() {
		for _, goal := range s.Goals {
			if !goal.isFor(of) {
				continue
			}
			measured := s.Summary(of, goal.Ours, goal.Figure)
			if goal.Peer != "" {
				measured = s.Ratio(of, Comparison{Ours: goal.Ours, Peer: goal.Peer}, goal.Figure)
			}
			if measured.Rounds > 0 {
				verdicts = append(verdicts, Verdict{Goal: goal, Case: of, Measured: measured, Met: goal.isMetBy(measured.Median)})
			}
		}
	}
	return verdicts
}

func (g *Goal) isFor(of string) bool {
	rest, found := strings.CutPrefix(of, g.Case)
	return found && (g.Case == "" || rest == "" || strings.HasPrefix(rest, ","))
}

func (g *Goal) isMetBy(value float64) bool {
	if g.AtLeast != nil {
		return value >= *g.AtLeast
	}
	return value <= *g.AtMost
}
