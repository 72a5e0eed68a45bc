// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// table is what a scenario has measured, as texts.
type table struct {
	header []string
	rows   [][]string
}

// figures returns a row for each figure of each case: the median of each contestant with its extremes, then the ratios.
func figures(s *result.Scenario) table {
	contestants := contestantsOf(s)
	t := table{header: append([]string{"", ""}, contestants...)}
	for _, comparison := range s.Comparisons {
		t.header = append(t.header, comparison.Ours+" : "+comparison.Peer)
	}
	for _, of := range s.Cases() {
		title := of
		for _, figure := range s.Figures {
			row := []string{title, figure.Name}
			for _, contestant := range contestants {
				row = append(row, summary(s.Summary(of, contestant, figure.Name), func(value float64) string { return Format(value, figure.Unit) }))
			}
			for _, comparison := range s.Comparisons {
				row = append(row, summary(s.Ratio(of, comparison, figure.Name), Ratio))
			}
			if strings.Join(row[2:], "") == "" {
				continue
			}
			t.rows = append(t.rows, row)
			title = ""
		}
	}
	return t
}

func contestantsOf(s *result.Scenario) []string {
	var all []string
	seen := map[string]bool{}
	for _, of := range s.Cases() {
		for _, contestant := range s.Contestants(of) {
			if !seen[contestant] {
				seen[contestant], all = true, append(all, contestant)
			}
		}
	}
	return all
}

func summary(s result.Summary, format func(float64) string) string {
	switch s.Rounds {
	case 0:
		return ""
	case 1:
		return format(s.Median)
	default:
		return fmt.Sprintf("%s (%s – %s)", format(s.Median), format(s.Min), format(s.Max))
	}
}

// goals returns a row for each goal in each case that it is for.
func goals(s *result.Scenario) table {
	t := table{header: []string{"", "goal", "measured", ""}}
	for _, verdict := range s.Verdicts() {
		what, format := verdict.Goal.Figure+" of "+verdict.Goal.Ours, func(value float64) string { return Format(value, unitOf(s, verdict.Goal.Figure)) }
		if verdict.Goal.Peer != "" {
			what, format = what+" : "+verdict.Goal.Peer, Ratio
		}
		met := "missed"
		if verdict.Met {
			met = "met"
		}
		t.rows = append(t.rows, []string{verdict.Case, what + " " + bound(&verdict.Goal, format), summary(verdict.Measured, format), met})
	}
	return t
}

func bound(goal *result.Goal, format func(float64) string) string {
	if goal.AtLeast != nil {
		return "≥ " + format(*goal.AtLeast)
	}
	return "≤ " + format(*goal.AtMost)
}

func unitOf(s *result.Scenario, name string) result.Unit {
	for _, figure := range s.Figures {
		if figure.Name == name {
			return figure.Unit
		}
	}
	return result.Count
}

// Terminal writes the tables of a scenario for a person at a terminal.
func Terminal(out io.Writer, s *result.Scenario) error {
	for _, t := range []table{figures(s), goals(s)} {
		if len(t.rows) == 0 {
			continue
		}
		writer := printers.GetNewTabWriter(out)
		fmt.Fprintln(out)
		for _, row := range append([][]string{t.header}, t.rows...) {
			fmt.Fprintln(writer, strings.Join(row, "\t"))
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	return nil
}

// markdown writes the table as Markdown has it.
func (t table) markdown(out io.Writer) {
	if len(t.rows) == 0 {
		return
	}
	line := func(cells []string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.header)
	fmt.Fprintf(out, "|%s\n", strings.Repeat("---|", len(t.header)))
	for _, row := range t.rows {
		line(row)
	}
	fmt.Fprintln(out)
}
