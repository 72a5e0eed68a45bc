// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"slices"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Events reads the events of a namespace.
type Events struct{ n *Namespace }

// About returns the events about a box.
func (e Events) About(box string) []eventsv1.Event {
	e.n.T.Helper()
	return e.AboutKind("ModelBox", box)
}

// AboutKind returns the events about the object of the kind and name.
func (e Events) AboutKind(kind, name string) []eventsv1.Event {
	e.n.T.Helper()
	events, err := e.n.ControlPlane.KubeClient.EventsV1().Events(e.n.Name).List(e.n.Ctx, metav1.ListOptions{})
	if err != nil {
		e.n.T.Fatal(err)
	}
	return slices.DeleteFunc(events.Items, func(event eventsv1.Event) bool {
		return event.Regarding.Kind != kind || event.Regarding.Name != name
	})
}

// Await waits for an event about the box whose note contains all of the words.
func (e Events) Await(box, reason string, words ...string) {
	e.n.T.Helper()
	e.AwaitAboutKind("ModelBox", box, reason, words...)
}

// AwaitAboutKind waits for an event about the object of the kind and name whose note contains all of the words.
func (e Events) AwaitAboutKind(kind, name, reason string, words ...string) {
	e.n.T.Helper()
	e.n.Eventually("event "+reason+" about "+kind+" "+name, func() error {
		var seen []string
		for _, event := range e.AboutKind(kind, name) {
			if event.Reason == reason && ContainsAll(event.Note, words) {
				return nil
			}
			seen = append(seen, event.Reason+": "+event.Note)
		}
		return fmt.Errorf("no such event with %q; there are:\n%s", words, strings.Join(seen, "\n"))
	})
}

// ExpectNoneRestored checks that the controller restored no child.
func (e Events) ExpectNoneRestored(box string) {
	e.n.T.Helper()
	for _, event := range e.About(box) {
		if strings.HasPrefix(event.Reason, "Restored") {
			e.n.T.Error(event.Note)
		}
	}
}
