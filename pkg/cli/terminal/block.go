// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package terminal draws what commands show while they wait.
package terminal

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/kubectl/pkg/util/term"
)

// The colours of text, and the end of a colour.
const (
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Red    = "\x1b[31m"
	Plain  = "\x1b[0m"
)

// Block draws lines in the same place of a terminal again and again. No line may be as wide as the terminal: a line that wraps could not
// be drawn over.
type Block struct {
	Out io.Writer

	// lines is how many of the terminal are drawn on.
	lines int
}

// Draw draws the lines over those that were drawn before.
func (b *Block) Draw(lines []string) {
	var text strings.Builder
	if b.lines > 0 {
		fmt.Fprintf(&text, "\x1b[%dA", b.lines)
	}
	for _, line := range lines {
		text.WriteString("\r\x1b[K" + line + "\n")
	}
	b.lines = len(lines)
	text.WriteString("\x1b[J")
	fmt.Fprint(b.Out, text.String())
}

// Size returns the width and the height of a terminal, 80 and 24 where they are not known.
func Size(size *term.TerminalSize) (width, height int) {
	if size == nil || size.Width == 0 || size.Height == 0 {
		return 80, 24
	}
	return int(size.Width), int(size.Height)
}

// Cut returns a line without what is beyond a width. Colours take no room, and the last one ends.
func Cut(line string, width int) string {
	var kept strings.Builder
	inColour, colours := false, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			inColour, colours = true, true
		case inColour:
			inColour = r != 'm'
		case width == 0:
			if colours {
				kept.WriteString(Plain)
			}
			return kept.String()
		default:
			width--
		}
		kept.WriteRune(r)
	}
	return kept.String()
}
