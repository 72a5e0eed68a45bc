// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

const (
	// shownPackages and shownTests are the numbers of the slowest packages and tests in the report.
	shownPackages = 15
	shownTests    = 15
)

// module is left out of names.
const module = "github.com/sharelinuxs/modelbox-apiserver/"

func report(out io.Writer, steps []step) error {
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(b.clock, a.clock) })
	var packages, tests []timed
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "SECONDS\tCPU\tCPU TESTING\t STEP")
	for _, s := range steps {
		fmt.Fprintf(w, "%.0f\t%.0f\t%s\t %s\n", s.clock, s.cpu, measured(s.testCPU), s.name)
		packages, tests = append(packages, s.packages...), append(tests, s.tests...)
	}
	fmt.Fprintln(w, "\t\t\t\nSECONDS\t\tCPU\t SLOWEST PACKAGES")
	for _, p := range slowest(packages, shownPackages) {
		fmt.Fprintf(w, "%.0f\t\t%s\t %s\n", p.clock, measured(p.cpu), strings.TrimPrefix(p.name, module))
	}
	fmt.Fprintln(w, "\t\t\t\nSECONDS\t\t\t SLOWEST TESTS")
	for _, test := range slowest(tests, shownTests) {
		fmt.Fprintf(w, "%.0f\t\t\t %s\n", test.clock, strings.TrimPrefix(test.name, module))
	}
	return w.Flush()
}

// measured formats a CPU time, which is 0 if it was not measured.
func measured(cpu float64) string {
	if cpu == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", cpu)
}

func slowest(all []timed, count int) []timed {
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.clock, a.clock) })
	return all[:min(count, len(all))]
}
