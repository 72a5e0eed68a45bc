// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"k8s.io/cli-runtime/pkg/printers"
)

// severity says what a finding means for a migration.
type severity string

const (
	// refused is what cannot be moved.
	refused severity = "Refused"
	// disruptive is what can be moved, but not without restarting pods or taking away an address.
	disruptive severity = "Disruptive"
	// changed is what will not be exactly what it was.
	changed severity = "Changed"
	// note is what an administrator may want to know.
	note severity = "Note"
)

var severities = []severity{refused, disruptive, changed, note}

// finding is something about one box, or about the cluster where it has no name.
type finding struct {
	Severity  severity `json:"severity"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name,omitempty"`
	Field     string   `json:"field,omitempty"`
	Message   string   `json:"message"`
}

func (f *finding) box() string {
	if f.Name == "" {
		return "<cluster>"
	}
	return f.Namespace + "/" + f.Name
}

// findings collects what is found about one box.
type findings struct {
	namespace, name string
	list            []finding
}

func (f *findings) add(severity severity, field, format string, args ...any) {
	f.list = append(f.list, finding{severity, f.namespace, f.name, field, fmt.Sprintf(format, args...)})
}

// has returns whether there is a finding of the severity.
func has(found []finding, severity severity) bool {
	return slices.ContainsFunc(found, func(f finding) bool { return f.Severity == severity })
}

// printFindings prints a table, the most severe first, in which many boxes of which the same is to be said take one line.
func printFindings(out io.Writer, found []finding) error {
	type line struct {
		severity       severity
		field, message string
	}
	boxes := map[line][]string{}
	var lines []line
	for i := range found {
		f := &found[i]
		l := line{f.Severity, f.Field, f.Message}
		if boxes[l] == nil {
			lines = append(lines, l)
		}
		boxes[l] = append(boxes[l], f.box())
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Compare(slices.Index(severities, a.severity), slices.Index(severities, b.severity))
	})
	w := printers.GetNewTabWriter(out)
	fmt.Fprintln(w, "SEVERITY\tBOX\tFIELD\tMESSAGE")
	for _, l := range lines {
		about := boxes[l][0]
		if more := len(boxes[l]) - 1; more > 0 {
			about = fmt.Sprintf("%s and %d more", about, more)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.severity, about, cmp.Or(l.field, "<none>"), l.message)
	}
	return w.Flush()
}
