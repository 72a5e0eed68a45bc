// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"cmp"
	"fmt"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// byRegarding indexes events by the UID of the object that they are about.
const byRegarding = "regarding"

func regardingUIDs(obj any) ([]string, error) {
	event, ok := obj.(*eventsv1.Event)
	if !ok {
		return nil, fmt.Errorf("expected an Event, got %T", obj)
	}
	return []string{string(event.Regarding.UID)}, nil
}

// lastEventAbout returns the event about the object that happened last, nil where there is none. Of several in the same second, it is
// always the same one.
func lastEventAbout(events cache.Indexer, object metav1.Object) (*eventsv1.Event, error) {
	about, err := events.ByIndex(byRegarding, string(object.GetUID()))
	if err != nil {
		return nil, fmt.Errorf("looking up the events about %s: %w", object.GetName(), err)
	}
	var last *eventsv1.Event
	for _, object := range about {
		event := object.(*eventsv1.Event)
		if last == nil || cmp.Or(lastSeen(event).Compare(lastSeen(last)), cmp.Compare(event.Name, last.Name)) > 0 {
			last = event
		}
	}
	return last, nil
}

// lastSeen returns when it last happened what the event is about. Kubelets and controllers write events of the older
// kind.
func lastSeen(event *eventsv1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.DeprecatedLastTimestamp.IsZero():
		return event.DeprecatedLastTimestamp.Time
	default:
		return event.EventTime.Time
	}
}
