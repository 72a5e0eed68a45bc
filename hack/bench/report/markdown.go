// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize/english"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/definition"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// Files of a report.
const (
	ResultFile = "result.json"
	pageFile   = "report.md"
)

// Write writes the report of a result into a folder: a page and its plots.
func Write(dir string, r *result.Result) error {
	plots, err := drawPlots(dir, r)
	if err != nil {
		return err
	}
	page, err := os.Create(filepath.Join(dir, pageFile))
	if err != nil {
		return fmt.Errorf("creating the report: %w", err)
	}
	if err := writePage(page, r, plots); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return page.Close()
}

// checkedWriter remembers the first error.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(content []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Writer.Write(content)
	w.err = err
	return n, err
}

// writePage writes the page, with the plots of each scenario.
func writePage(to io.Writer, r *result.Result, plots map[string][]plotFile) error {
	out := &checkedWriter{Writer: to}
	fmt.Fprintf(out, "# Performance\n\nMeasured with `%s` on %s, on %s with %s and %s of memory, Linux %s.\n",
		command(r), r.Began.Format("2006-01-02"), r.Machine.CPU, english.Plural(r.Machine.Cores, "core", ""),
		Format(float64(r.Machine.Memory), result.Bytes), r.Machine.Kernel)
	if r.Machine.IsBusy() {
		fmt.Fprintf(out, "The machine had other things to do, with %.0f %% of its processors: these figures say little.\n", 100*r.Machine.BusyBefore)
	}
	fmt.Fprintf(out, "\n| | |\n|---|---|\n")
	for _, program := range slices.Sorted(maps.Keys(r.Versions)) {
		fmt.Fprintf(out, "| %s | %s |\n", program, r.Versions[program])
	}
	fmt.Fprintf(out, `
Each contestant was measured in turn, %s, on the same control plane of real components: every etcd waits for the disk,
none writes an audit log, and clients and controllers have no limit of requests. Figures are medians, with the least and
the largest in parentheses. A ratio is the median of the ratios of all rounds, in each of which the two were measured one after
the other. CPU is the CPU of all servers: kube-apiserver, both etcds, the server, the controller manager and the scheduler.

`, english.Plural(r.Settings.Rounds, "round", ""))
	for i := range r.Scenarios {
		writeScenario(out, &r.Scenarios[i], plots[r.Scenarios[i].Name])
	}
	writeDefinition(out)
	return out.err
}

// command is what measures the same again.
func command(r *result.Result) string {
	switch {
	case r.Settings.Quick:
		return "make bench-quick"
	case r.Settings.Full:
		return "bench run --full"
	default:
		return "make bench"
	}
}

func writeScenario(out io.Writer, s *result.Scenario, plots []plotFile) {
	fmt.Fprintf(out, "## %s\n\n%s. With %d %s, in %.0f s.\n\n", s.Name, capitalize(s.Shows), s.Size, cmp.Or(s.SizeOf, "objects"), s.Seconds)
	for _, note := range s.Notes {
		fmt.Fprintf(out, "- %s\n", note)
	}
	if len(s.Notes) > 0 {
		fmt.Fprintln(out)
	}
	figures(s).markdown(out)
	goals(s).markdown(out)
	for _, plot := range plots {
		fmt.Fprintf(out, "![%s](%s)\n", plot.title, plot.file)
	}
	if len(plots) > 0 {
		fmt.Fprintln(out)
	}
}

// writeDefinition says what the CustomResourceDefinition checks, and what it cannot.
func writeDefinition(out io.Writer) {
	fmt.Fprint(out, "## The CustomResourceDefinition\n\nIts schema is made from the one that the server publishes. It has subresources for status and scale, columns, selectable\nfields, the defaults that do not depend on other fields, and these rules in CEL:\n\n| at | rule |\n|---|---|\n")
	for _, rule := range definition.Rules {
		fmt.Fprintf(out, "| %s | %s |\n", place(rule.Path), rule.Message)
	}
	fmt.Fprint(out, "\nIt does not have:\n\n")
	for _, missing := range definition.LeftOut {
		fmt.Fprintf(out, "- %s\n", missing)
	}
}

func place(path string) string {
	if path == "" {
		return "the whole object"
	}
	return "`" + path + "`"
}

func capitalize(text string) string {
	if text == "" {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}
