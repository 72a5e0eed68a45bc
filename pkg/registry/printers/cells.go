// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxCellBytes is how long a cell is at most: more than any terminal shows of it.
const MaxCellBytes = 1024

// Cell returns the text with "..." in place of what is too long for a cell.
func Cell(text string) string {
	if len(text) <= MaxCellBytes {
		return text
	}
	return strings.ToValidUTF8(text[:MaxCellBytes-3], "") + "..."
}

// OrNone returns the text, or "<none>" for an empty text.
func OrNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

// NotSeen says that the controller has not seen an object. noun is its kind in messages, such as "box".
func NotSeen(noun string) string { return fmt.Sprintf("the controller has not seen this %s yet", noun) }

// ChangeNotSeen says that the controller has seen an object, but not the last change of its spec.
const ChangeNotSeen = "the controller has not seen the last change yet"

// Terminating returns what an object that is being deleted waits for, according to its finalizers. noun is the noun for the object,
// such as "box". finalizers has what the finalizers of its kind wait for.
func Terminating(object metav1.Object, noun string, finalizers map[string]string) string {
	var waits, others []string
	for _, finalizer := range object.GetFinalizers() {
		switch waitsFor, isKnown := finalizers[finalizer]; {
		case isKnown:
			waits = append(waits, waitsFor)
		case finalizer == metav1.FinalizerDeleteDependents:
			waits = append(waits, "its children to be deleted")
		case finalizer == metav1.FinalizerOrphanDependents:
			waits = append(waits, "its children to be orphaned")
		default:
			others = append(others, finalizer)
		}
	}
	switch len(others) {
	case 0:
	case 1:
		waits = append(waits, "the finalizer "+others[0]+" to be removed")
	default:
		waits = append(waits, "the finalizers "+strings.Join(others, ", ")+" to be removed")
	}
	if len(waits) == 0 {
		return fmt.Sprintf("the %s is being deleted", noun)
	}
	return "waits for " + strings.Join(waits, ", and for ")
}
