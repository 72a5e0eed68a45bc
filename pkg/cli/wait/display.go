// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package wait

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/terminal"
)

const barWidth = 20

// display shows how far all that is waited for is. On a terminal that is a bar for each, which moves; elsewhere it is a line
// whenever something has changed.
type display struct {
	out        io.Writer
	isTerminal bool
	colour     bool
	size       func() *term.TerminalSize

	lock  sync.Mutex
	order []string
	shown map[string][]progress
	block terminal.Block
}

func newDisplay(out io.Writer) *display {
	tty := term.TTY{Out: out}
	return &display{
		out:        out,
		isTerminal: tty.IsTerminalOut(),
		colour:     printers.AllowsColorOutput(out),
		size:       tty.GetSize,
		shown:      map[string][]progress{},
		block:      terminal.Block{Out: out},
	}
}

// show shows how far one of those is that are waited for.
func (d *display) show(name string, now []progress) {
	d.lock.Lock()
	defer d.lock.Unlock()
	before, isKnown := d.shown[name]
	if isKnown && slices.Equal(before, now) {
		return
	}
	if !isKnown {
		d.order = append(d.order, name)
	}
	d.shown[name] = now
	if d.isTerminal {
		d.draw()
		return
	}
	for _, p := range now {
		if !slices.Contains(before, p) {
			fmt.Fprintln(d.out, p.line())
		}
	}
}

// line is the progress without a bar.
func (p *progress) line() string {
	line := p.name + ": "
	if p.total > 0 {
		line += p.count() + " "
	}
	line += p.reason
	if p.message != "" && !p.isReady {
		line += ": " + p.message
	}
	return line
}

func (p *progress) count() string { return fmt.Sprintf("%d/%d", p.done, p.total) }

// draw draws all bars over those that were drawn before.
func (d *display) draw() {
	var all []progress
	for _, name := range d.order {
		all = append(all, d.shown[name]...)
	}
	width, height := terminal.Size(d.size())
	omitted := 0
	if room := height - 2; len(all) > room {
		// Those that are not ready are what one waits for.
		slices.SortStableFunc(all, func(a, b progress) int { return boolInt(a.isReady) - boolInt(b.isReady) })
		omitted, all = len(all)-room, all[:room]
	}
	names, counts := 0, 0
	for i := range all {
		names, counts = max(names, utf8.RuneCountInString(all[i].name)), max(counts, len(all[i].count()))
	}
	var lines []string
	for i := range all {
		lines = append(lines, d.bar(&all[i], names, counts, width))
	}
	if omitted > 0 {
		lines = append(lines, fmt.Sprintf("… %d more", omitted))
	}
	d.block.Draw(lines)
}

// bar is one line with a bar, no wider than the terminal: a line that wraps could not be drawn over.
func (d *display) bar(p *progress, names, counts, width int) string {
	filled := 0
	switch {
	case p.isReady:
		filled = barWidth
	case p.total > 0:
		filled = int(min(p.done, p.total)) * barWidth / int(p.total)
	}
	count := ""
	if p.total > 0 {
		count = p.count()
	}
	colour := terminal.Yellow
	switch {
	case p.isReady:
		colour = terminal.Green
	case p.isStalled:
		colour = terminal.Red
	}
	before := fmt.Sprintf("%-*s ", names, p.name)
	bar := strings.Repeat("█", filled) + strings.Repeat("░", barWidth-filled)
	after := fmt.Sprintf(" %*s %s", counts, count, p.reason)
	if p.message != "" && !p.isReady {
		after += ": " + p.message
	}
	room := width - 1 - utf8.RuneCountInString(before) - barWidth
	if room < 0 {
		return cut(before, width-1)
	}
	if d.colour {
		bar = colour + bar + terminal.Plain
	}
	return before + bar + cut(after, room)
}

// cut returns a text of at most that many characters.
func cut(text string, length int) string {
	runes := []rune(text)
	if len(runes) <= length {
		return text
	}
	if length < 1 {
		return ""
	}
	return string(runes[:length-1]) + "…"
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
