// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// box is the object of most histories.
var box = Key{"modelboxes", "a"}

func object(uid string, revision, generation int64, spec, note string) Object {
	return Object{types.UID(uid), revision, generation, spec, note}
}

// at returns a time in the history, in seconds.
func at(second float64) time.Duration { return time.Duration(second * float64(time.Second)) }

// op returns an operation on the box.
func op(client int, call, returned float64, request Request, outcome Outcome, object Object) Operation {
	request.Key = box
	return Operation{Client: client, Request: request, Response: Response{outcome, object}, Call: at(call), Return: at(returned)}
}

var none Object

// life returns a valid history of one object: it is created, changed in each way, deleted and created again.
func life() History {
	created := object("u1", 10, 1, "s1", "n1")
	updated := object("u1", 12, 2, "s2", "n2")
	patched := object("u1", 13, 2, "s2", "n3")
	applied := object("u1", 15, 3, "s3", "n3")
	deleted := object("u1", 17, 3, "s3", "n3")
	again := object("u2", 20, 1, "s4", "n4")
	other := Key{"modelboxes", "b"}
	otherCreated := object("u3", 11, 1, "s5", "n5")
	return History{
		Operations: []Operation{
			op(1, 0, 1, Request{Verb: Get}, NotFound, none),
			op(1, 1.1, 2, Request{Verb: Create, Spec: "s1", Note: "n1"}, Done, created),
			{Client: 2, Request: Request{Verb: Create, Key: other, Spec: "s5", Note: "n5"}, Response: Response{Done, otherCreated}, Call: at(1.5), Return: at(2.5)},
			op(2, 3, 4, Request{Verb: Create, Spec: "x1", Note: "x1"}, AlreadyExists, none),
			op(1, 3, 4, Request{Verb: Update, Spec: "s2", Note: "n2", Revision: 10}, Done, updated),
			op(2, 5, 6, Request{Verb: Update, Spec: "x2", Note: "x2", Revision: 10}, Conflict, none),
			op(2, 7, 8, Request{Verb: Patch, Note: "n3"}, Done, patched),
			op(3, 7, 9, Request{Verb: Get}, Done, updated),
			op(1, 9, 10, Request{Verb: Apply, Spec: "s3"}, Done, applied),
			op(3, 9, 11, Request{Verb: Get}, Done, patched),
			op(2, 11, 12, Request{Verb: Delete, UID: "u2"}, Conflict, none),
			op(2, 12, 13, Request{Verb: Delete, UID: "u1"}, Done, Object{UID: "u1"}),
			op(1, 14, 15, Request{Verb: Patch, Note: "x3"}, NotFound, none),
			op(1, 16, 17, Request{Verb: Apply, Spec: "x4"}, Conflict, none),
			op(2, 16, 17, Request{Verb: Create, Spec: "s4", Note: "n4"}, Done, again),
			op(3, 18, 19, Request{Verb: Get}, Done, again),
		},
		Lists: []List{
			{Client: 3, Resource: "modelboxes", Revision: 12, Call: at(3), Return: at(5), Objects: map[string]Object{"a": updated, "b": otherCreated}},
			{Client: 3, Resource: "modelboxes", Revision: 18, Call: at(14), Return: at(15), Objects: map[string]Object{"b": otherCreated}},
		},
		Watches: []Watch{
			{Client: 4, Resource: "modelboxes", From: 9, Events: []Event{
				{watch.Added, "a", created, at(2)},
				{watch.Added, "b", otherCreated, at(2.5)},
				{watch.Modified, "a", updated, at(4)},
				{watch.Bookmark, "", Object{Revision: 12}, at(5)},
			}},
			{Client: 4, Resource: "modelboxes", From: 12, Events: []Event{
				{watch.Modified, "a", patched, at(8)},
				{watch.Modified, "a", applied, at(10)},
				{watch.Deleted, "a", deleted, at(13)},
				{watch.Bookmark, "", Object{Revision: 19}, at(16.5)},
				{watch.Added, "a", again, at(17)},
			}},
			{Client: 5, Resource: "modelstacks", From: 9, Events: []Event{{watch.Bookmark, "", Object{Revision: 19}, at(17)}}},
		},
		Changes: []Change{
			{watch.Added, box, created},
			{watch.Added, other, otherCreated},
			{watch.Modified, box, updated},
			{watch.Modified, box, patched},
			{watch.Modified, box, applied},
			{watch.Deleted, box, deleted},
			{watch.Added, box, again},
		},
	}
}

// tell replaces the response of an operation of life.
func tell(number int, outcome Outcome, object Object) func(*History) {
	return func(h *History) { h.Operations[number].Response = Response{outcome, object} }
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*History)
		// errors are parts of the expected errors, in their order.
		errors []string
	}{
		{"a history in which nothing is wrong", func(*History) {}, nil},
		{"a stale read", tell(15, Done, object("u1", 15, 3, "s3", "n3")), []string{"no order"}},
		{"a stale read of what was deleted", func(h *History) {
			h.Operations[12].Request = Request{Verb: Get, Key: box}
			tell(12, Done, object("u1", 15, 3, "s3", "n3"))(h)
		}, []string{"no order"}},
		{"a read from the future", func(h *History) {
			tell(7, Done, object("u1", 15, 3, "s3", "n3"))(h)
			h.Operations[7].Return = at(8.5)
		}, []string{"15 was returned before", "no order"}},
		{"an object that is not found although it is there", tell(15, NotFound, none), []string{"no order"}},
		{"an object that is found although it was never created", tell(0, Done, object("u1", 10, 1, "s1", "n1")), []string{"10 was returned before", "no order"}},
		{"a generation that is not counted", func(h *History) {
			h.Operations[4].Response.Object.Generation, h.Changes[2].Object.Generation = 1, 1
			h.Lists[0].Objects["a"] = h.Changes[2].Object
			h.Watches[0].Events[2].Object.Generation = 1
			h.Operations[7].Response.Object.Generation = 1
		}, []string{"no order"}},
		{"a lost write", func(h *History) { h.Changes = append(h.Changes[:3], h.Changes[4:]...) }, []string{
			"a write that is not in the store: patch note=n3", "it reported MODIFIED a {revision 13"}},
		{"a write that was lost by another one", func(h *History) {
			applied := object("u1", 15, 3, "s3", "n2")
			h.Operations[8].Response.Object, h.Changes[4].Object, h.Watches[1].Events[1].Object = applied, applied, applied
			h.Changes[5].Object.Note, h.Watches[1].Events[2].Object.Note = "n2", "n2"
		}, []string{"no order"}},
		{"a revision that goes back", func(h *History) {
			h.Changes[6].Object.Revision, h.Operations[14].Response.Object.Revision, h.Operations[15].Response.Object.Revision = 16, 16, 16
			h.Watches[1].Events[4].Object.Revision = 16
			h.Changes[5], h.Changes[6] = h.Changes[6], h.Changes[5]
		}, []string{"create spec=s4 note=n4", "it reported DELETED", "no order"}},
		{"a double create", tell(3, Done, object("u9", 12, 1, "x1", "x1")), []string{"not in the store: create spec=x1", "no order"}},
		{"an update in spite of its precondition", tell(5, Done, object("u1", 13, 3, "x2", "x2")), []string{"not in the store: update spec=x2", "13 was returned before", "no order"}},
		{"a conflict without a cause", tell(4, Conflict, none), []string{"a change that no client has requested: MODIFIED", "no order"}},
		{"an update without a precondition that conflicts", func(h *History) { h.Operations[5].Request.Revision = 0 }, []string{"no order"}},
		{"a deletion in spite of its precondition", tell(10, Done, Object{UID: "u2"}), []string{"not in the store: delete", "no order"}},
		{"an object that is deleted twice", tell(10, Done, Object{UID: "u1"}), []string{"answers two clients", "no order"}},
		{"an object that is created with the UID of the former one", func(h *History) {
			for _, object := range []*Object{&h.Operations[14].Response.Object, &h.Operations[15].Response.Object, &h.Watches[1].Events[4].Object, &h.Changes[6].Object} {
				object.UID = "u1"
			}
		}, []string{"no order"}},
		{"a change without a request", func(h *History) { h.Operations = append(h.Operations[:6], h.Operations[7:]...) }, []string{
			"a change that no client has requested: MODIFIED modelboxes/a {revision 13", "no order"}},
		{"a write that is acknowledged with what another one wrote", tell(6, Done, object("u1", 12, 2, "s2", "n2")), []string{
			"answers two clients", "no client has requested", "returned before", "no order"}},

		{"a write that was not answered and was served", tell(6, Unknown, none), nil},
		{"a write that was not answered and was not served", func(h *History) {
			h.Operations = append(h.Operations, op(7, 6, 7, Request{Verb: Apply, Spec: "x5"}, Unknown, none))
		}, nil},
		{"a create that was not answered and was served", tell(1, Unknown, none), nil},
		{"a deletion that was not answered and was served", tell(11, Unknown, none), nil},
		{"a deletion that was not answered and was not served", func(h *History) {
			h.Operations = append(h.Operations, op(7, 6, 7, Request{Verb: Delete}, Unknown, none))
		}, nil},
		{"one of two deletions that were not answered was served", func(h *History) {
			tell(11, Unknown, none)(h)
			h.Operations = append(h.Operations, op(7, 6, 7, Request{Verb: Delete}, Unknown, none))
		}, nil},
		{"a write that was not answered and is served before it was asked for", func(h *History) {
			tell(6, Unknown, none)(h)
			h.Operations[6].Call = at(12)
		}, []string{"asked for at 12s", "no order"}},

		{"a stale list", func(h *History) {
			h.Lists[1].Revision, h.Lists[1].Objects = 12, h.Lists[0].Objects
		}, []string{"list of modelboxes: asked for at 14s, and has revision 12, but 17 was returned before"}},
		{"a list from the future", func(h *History) { h.Lists[0].Return = at(2); h.Lists[0].Call = at(1) }, []string{"update spec=s2"}},
		{"a list that mixes revisions", func(h *History) { h.Lists[0].Objects["a"] = h.Changes[3].Object }, []string{"the list of modelboxes at revision 12 has a {revision 13"}},
		{"a list that lacks an object", func(h *History) { delete(h.Lists[0].Objects, "b") }, []string{"the list of modelboxes at revision 12 has b not"}},
		{"a list with an object that was deleted", func(h *History) { h.Lists[1].Objects["a"] = h.Changes[4].Object }, []string{"the list of modelboxes at revision 18 has a {revision 15"}},

		{"a watch that skips a change", func(h *History) {
			h.Watches[1].Events = append(h.Watches[1].Events[:1], h.Watches[1].Events[2:]...)
		}, []string{"it reported DELETED a {revision 17"}},
		{"a watch that skips a change before a bookmark", func(h *History) {
			h.Watches[0].Events = append(h.Watches[0].Events[:2], h.Watches[0].Events[3:]...)
		}, []string{"a bookmark says 12, and it has not reported MODIFIED {revision 12"}},
		{"a watch that skips a change when it is resumed", func(h *History) { h.Watches[1].Events = h.Watches[1].Events[1:] }, []string{
			"the watch of modelboxes from revision 12: it reported MODIFIED a {revision 15"}},
		{"a watch that repeats a change", func(h *History) {
			h.Watches[1].Events = append(h.Watches[1].Events[:1:1], h.Watches[1].Events...)
		}, []string{"it reported MODIFIED a {revision 13"}},
		{"a watch that repeats a change when it is resumed", func(h *History) { h.Watches[1].From = 13 }, []string{"it reported MODIFIED a {revision 13"}},
		{"a watch that goes back", func(h *History) {
			events := h.Watches[1].Events
			events[0], events[1] = events[1], events[0]
		}, []string{"it reported MODIFIED a {revision 15"}},
		{"a watch that reports another change than there was", func(h *History) { h.Watches[0].Events[0].Type = watch.Modified }, []string{"it reported MODIFIED a {revision 10"}},
		{"a watch that reports the last change twice", func(h *History) {
			h.Watches[1].Events = append(h.Watches[1].Events, h.Watches[1].Events[4])
		}, []string{"there was no further change"}},
		{"a watch from the future", func(h *History) { h.Watches[0].Events[0].Received = at(1) }, []string{"create spec=s1"}},
		{"a bookmark from the future", func(h *History) { h.Watches[2].Events[0].Received = at(8) }, []string{"apply spec=s3", "delete", "list of modelboxes"}},

		{"a watch that has expired with the server", func(h *History) {
			h.Expired, h.Outages = []Expired{{"modelboxes", 12, at(8)}}, []Outage{{at(6), at(7)}}
		}, nil},
		{"a watch that has expired although the server has not ended", func(h *History) {
			h.Expired, h.Outages = []Expired{{"modelboxes", 12, at(8)}}, []Outage{{at(1), at(2)}, {at(9), at(10)}}
		}, []string{"has expired at 8s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			history := life()
			test.change(&history)
			report := Check(history, time.Minute)
			if len(report.Errors) != len(test.errors) {
				t.Fatalf("got these errors:\n%v\nwant %q", errors.Join(report.Errors...), test.errors)
			}
			for i, err := range report.Errors {
				if !strings.Contains(err.Error(), test.errors[i]) {
					t.Errorf("got the error %q, want %q in it", err, test.errors[i])
				}
			}
			if len(report.Undecided) > 0 {
				t.Errorf("%v are undecided", report.Undecided)
			}
			for _, picture := range report.Illegal {
				var page bytes.Buffer
				if err := picture.Write(&page); err != nil || !strings.Contains(page.String(), "</html>") {
					t.Errorf("the page has %d bytes, error %v", page.Len(), err)
				}
			}
		})
	}
}

// TestCheckReportsUndecidedObjects checks a history without any time.
func TestCheckReportsUndecidedObjects(t *testing.T) {
	history := life()
	for i := range 30 {
		history.Operations = append(history.Operations, op(10+i, 0, 30, Request{Verb: Get}, Done, object("u1", 15, 3, "s3", "n3")))
	}
	report := Check(history, time.Nanosecond)
	if len(report.Errors) > 0 || len(report.Undecided) == 0 {
		t.Errorf("got %d errors, and %v are undecided", len(report.Errors), report.Undecided)
	}
}
