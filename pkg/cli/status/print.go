// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/terminal"
)

// maxEvents is how many events are shown, the newest.
const maxEvents = 10

// printer writes trees.
type printer struct {
	// now is what ages are counted to. Without it none are shown.
	now           time.Time
	colour        bool
	withNamespace bool
}

var colours = map[health]string{healthy: terminal.Green, underway: terminal.Yellow, failing: terminal.Red}

// row is a line of a table. Its column of that index has the colour.
type row struct {
	cells  []string
	colour string
	column int
}

func (p *printer) printTrees(out io.Writer, roots []*node) {
	header := row{cells: []string{"NAME", "READY", "STATUS", "AGE", "MESSAGE"}}
	if p.withNamespace {
		header.cells = append([]string{"NAMESPACE"}, header.cells...)
	}
	rows := []row{header}
	for _, root := range roots {
		namespace := ""
		if root.object != nil {
			namespace = root.object.GetNamespace()
		}
		rows = p.addRows(rows, root, namespace, "", "")
	}
	p.printTable(out, rows, "")
}

// addRows adds the rows of a tree. first is before the name of its root, others before the names below.
func (p *printer) addRows(rows []row, n *node, namespace, first, others string) []row {
	age := ""
	if n.object != nil && !p.now.IsZero() {
		age = duration.HumanDuration(p.now.Sub(n.object.GetCreationTimestamp().Time))
	}
	r := row{cells: []string{first + n.name, n.ready, n.status, age, n.message}, colour: colours[n.health], column: 2}
	if n.status == "" {
		r.column = 1
	}
	if p.withNamespace {
		r.cells = append([]string{namespace}, r.cells...)
		r.column++
	}
	rows = append(rows, r)
	for i, child := range n.nodes {
		if i < len(n.nodes)-1 {
			rows = p.addRows(rows, child, "", others+"├─", others+"│ ")
		} else {
			rows = p.addRows(rows, child, "", others+"└─", others+"  ")
		}
	}
	return rows
}

// printTable writes rows in columns. Colours take no room, which is why tabwriter cannot be used.
func (p *printer) printTable(out io.Writer, rows []row, indent string) {
	widths := make([]int, len(rows[0].cells))
	for _, r := range rows {
		for i, cell := range r.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range rows {
		var line strings.Builder
		line.WriteString(indent)
		for i, cell := range r.cells {
			padding := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+3)
			if p.colour && i == r.column && r.colour != "" && cell != "" {
				cell = r.colour + cell + terminal.Plain
			}
			line.WriteString(cell + padding)
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// printEvents writes the newest events about the objects of trees.
func (p *printer) printEvents(out io.Writer, roots []*node, events []*corev1.Event) {
	names := map[types.UID]string{}
	addNames(names, roots)
	events = slices.DeleteFunc(slices.Clone(events), func(e *corev1.Event) bool { return names[e.InvolvedObject.UID] == "" })
	slices.SortStableFunc(events, func(a, b *corev1.Event) int { return lastSeen(a).Compare(lastSeen(b)) })
	if len(events) == 0 {
		return
	}
	fmt.Fprintln(out, "\nEvents:")
	if older := len(events) - maxEvents; older > 0 {
		fmt.Fprintf(out, "  (%d older)\n", older)
		events = events[older:]
	}
	rows := []row{{cells: []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}}}
	for _, event := range events {
		r := row{column: 1, cells: []string{
			duration.HumanDuration(p.now.Sub(lastSeen(event))), event.Type, event.Reason, names[event.InvolvedObject.UID], cliutil.OneLine(event.Message),
		}}
		if event.Type == corev1.EventTypeWarning {
			r.colour = terminal.Yellow
		}
		rows = append(rows, r)
	}
	p.printTable(out, rows, "  ")
}

func addNames(to map[types.UID]string, nodes []*node) {
	for _, n := range nodes {
		if n.object != nil {
			to[n.object.GetUID()] = n.name
		}
		addNames(to, n.nodes)
	}
}

// lastSeen is when an event was seen last, which its reporters write to different fields.
func lastSeen(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	}
	return event.CreationTimestamp.Time
}
