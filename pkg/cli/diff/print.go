// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"
	"io"
	"strings"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// differs returns whether a child is, or is going to be, other than the box asks for.
func differs(diff *modelv1.ModelBoxDiff) bool {
	for _, child := range diff.Children {
		if child.Action != modelv1.DiffActionNone && child.Action != modelv1.DiffActionUnknown {
			return true
		}
	}
	return false
}

// printDiff prints the children of which something is to be said, and warns of those that may not be seen.
func printDiff(out, errOut io.Writer, diff *modelv1.ModelBoxDiff) {
	box := "ModelBox/" + diff.Name
	if diff.Paused {
		box += " (paused)"
	}
	for _, child := range diff.Children {
		switch {
		case child.Action == modelv1.DiffActionUnknown:
			fmt.Fprintf(errOut, "warning: %s/%s: %s\n", child.Kind, child.Name, child.Message)
			continue
		case child.Action == modelv1.DiffActionNone && len(child.Fields) == 0 && child.Message == "":
			continue
		}
		if box != "" {
			fmt.Fprintln(out, box)
			box = ""
		}
		fmt.Fprintf(out, "  %s/%s: %s\n", child.Kind, child.Name, describe(&child))
		for i := range child.Fields {
			printField(out, &child.Fields[i])
		}
		if child.OmittedFields > 0 {
			fmt.Fprintf(out, "    (%d more)\n", child.OmittedFields)
		}
	}
}

// describe says what becomes of a child, and why.
func describe(child *modelv1.ModelBoxChildDiff) string {
	text := string(child.Action)
	if child.Effect != "" {
		text += ", " + child.Effect
	}
	if child.Message != "" {
		text += ": " + child.Message
	}
	return text
}

// printField prints what a field is and what it becomes. That the box itself has set it goes without saying.
func printField(out io.Writer, field *modelv1.ModelBoxFieldDiff) {
	var notes []string
	if field.Manager != "" && field.Manager != render.FieldManager {
		notes = append(notes, "set by "+field.Manager)
	}
	if field.Ignored {
		notes = append(notes, "ignored")
	}
	fmt.Fprintf(out, "    %s: %s -> %s", field.Path, orNone(field.Live), orNone(field.Wanted))
	if len(notes) > 0 {
		fmt.Fprintf(out, " (%s)", strings.Join(notes, ", "))
	}
	fmt.Fprintln(out)
}

func orNone(value string) string {
	if value == "" {
		return "<none>"
	}
	return value
}
