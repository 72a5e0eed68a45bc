// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/terminal"
)

const barWidth = 20

// drawing makes the lines of a picture.
type drawing struct {
	now    time.Time
	colour bool
	lines  []string
}

// addBox adds a box: how its rollout gets on, a bar for each revision, and its checks.
func (d *drawing) addBox(indent, name string, v *boxView, withBars bool) {
	s := boxState(v.box)
	d.addState(indent, name, phaseOf(v.box, s), s, v.deadline())
	if withBars {
		d.addBars(indent+"  ", v.bars(d.now), max(cliutil.DesiredReplicas(v.box), 1), s)
		d.addChecks(indent+"  ", v.box)
	}
}

// addState adds how a rollout gets on. A phase is drawn before the reason for it.
func (d *drawing) addState(indent, name, phase string, s state, deadline time.Time) {
	phase = cmp.Or(phase, s.reason)
	line := indent + name + "  " + d.coloured(colourOf(s), phase)
	if !deadline.IsZero() && !s.hasFailed {
		line += " (progress deadline in " + duration.HumanDuration(max(0, deadline.Sub(d.now))) + ")"
	}
	text := s.message
	if s.reason != "" && phase != s.reason {
		text = s.reason + ": " + text
	}
	if text != "" && !s.isComplete {
		line += ": " + text
	}
	d.lines = append(d.lines, line)
}

// phaseOf returns the phase of a rollout, empty where the status of the box has none, or none of its present spec.
func phaseOf(box *modelv1.ModelBox, s state) string {
	switch {
	case s.isComplete:
		return string(modelv1.RolloutComplete)
	case box.Status.Rollout == nil || box.Status.ObservedGeneration < box.Generation:
		return ""
	}
	return string(box.Status.Rollout.Phase)
}

func colourOf(s state) string {
	switch {
	case s.isComplete:
		return terminal.Green
	case s.hasFailed:
		return terminal.Red
	}
	return terminal.Yellow
}

func (d *drawing) coloured(colour, text string) string {
	if !d.colour || text == "" {
		return text
	}
	return colour + text + terminal.Plain
}

// addBars adds the bars of a box that is to have so many pods.
func (d *drawing) addBars(indent string, bars []bar, desired int32, s state) {
	rows := make([][]string, len(bars))
	var widths [5]int
	for i := range bars {
		b := &bars[i]
		number := ""
		if b.number > 0 {
			number = fmt.Sprintf("revision %d", b.number)
		}
		rows[i] = []string{b.role, number, fmt.Sprintf("%d/%d available", b.available, b.pods), b.images, b.name}
		for column, cell := range rows[i] {
			widths[column] = max(widths[column], utf8.RuneCountInString(cell))
		}
		desired = max(desired, b.pods)
	}
	for i, row := range rows {
		line := indent
		for column, cell := range row {
			if column == 2 {
				line += d.coloured(d.barColour(&bars[i], s), bars[i].draw(desired)) + "  "
			}
			if widths[column] > 0 {
				line += cell + strings.Repeat(" ", widths[column]-utf8.RuneCountInString(cell)+2)
			}
		}
		d.lines = append(d.lines, strings.TrimRight(line, " "))
	}
}

func (d *drawing) barColour(b *bar, s state) string {
	switch {
	case b.available == b.pods:
		return terminal.Green
	case b.role == roleFailed, b.role == roleNew && s.hasFailed:
		return terminal.Red
	}
	return terminal.Yellow
}

// draw draws the pods that are available, then those that are not, out of those that are to be.
func (b *bar) draw(desired int32) string {
	width := func(pods int32) int { return int(pods) * barWidth / int(desired) }
	return strings.Repeat("█", width(b.available)) + strings.Repeat("▒", width(b.pods)-width(b.available)) + strings.Repeat("░", barWidth-width(b.pods))
}

// addStack adds a stack, and each of its components: the box of one that is rolled out with bars, and of any other only its state.
func (d *drawing) addStack(stack *modelv1.ModelStack, components map[string]*boxView) {
	s := stateOf(stack)
	d.addState("", stack.Name, "", s, time.Time{})
	for i := range stack.Status.Components {
		component := &stack.Status.Components[i]
		view := components[component.Name]
		if view == nil || view.box.Status.ObservedGeneration < view.box.Generation {
			d.addState("  ", component.Name, "", componentState(component), time.Time{})
			continue
		}
		d.addBox("  ", component.Name, view, !boxState(view.box).isComplete)
	}
}

// fit returns the lines as they fit into a terminal.
func (d *drawing) fit(width, height int) []string {
	lines := d.lines
	if room := height - 2; len(lines) > room {
		lines = append(lines[:room-1:room-1], fmt.Sprintf("… %d more lines", len(lines)-room+1))
	}
	for i := range lines {
		lines[i] = terminal.Cut(lines[i], width-1)
	}
	return lines
}
