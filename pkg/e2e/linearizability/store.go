// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// store has the changes in the store.
type store struct {
	changes []Change
	// byRevision and the others are indexes of changes.
	byRevision map[int64]int
	bySpec     map[string]int
	byNote     map[string]int
	deletions  map[types.UID]int
}

func newStore(changes []Change) *store {
	s := &store{changes: changes, byRevision: map[int64]int{}, bySpec: map[string]int{}, byNote: map[string]int{}, deletions: map[types.UID]int{}}
	for i, change := range changes {
		s.byRevision[change.Object.Revision] = i
		if change.Type == watch.Deleted {
			s.deletions[change.Object.UID] = i
			continue
		}
		setFirst(s.bySpec, change.Object.Spec, i)
		setFirst(s.byNote, change.Object.Note, i)
	}
	return s
}

// setFirst records the first change with a value, because later changes of the object may keep it.
func setFirst(index map[string]int, written string, change int) {
	if _, isKnown := index[written]; !isKnown {
		index[written] = change
	}
}

// settle completes the operations without a response from the store: a request that has written gets its response, and other
// requests are removed. It returns an error for each acknowledged write that is not in the store, and for each change that no
// client has requested.
func (s *store) settle(operations []Operation) (settled []Operation, errs []error) {
	asked := map[int]Operation{}
	account := func(change int, operation Operation) {
		if other, isKnown := asked[change]; isKnown {
			errs = append(errs, fmt.Errorf("the change to revision %d of %s answers two clients: %s, and %s", s.changes[change].Object.Revision,
				operation.Request.Key, describe(other.Request, other.Response), describe(operation.Request, operation.Response)))
		}
		asked[change] = operation
	}
	var unanswered []Operation
	for _, operation := range operations {
		request, response := operation.Request, operation.Response
		if response.Outcome == Unknown {
			unanswered = append(unanswered, operation)
			continue
		}
		if response.Outcome == Done && request.Verb != Get {
			change, found := s.find(request, response)
			if !found {
				errs = append(errs, fmt.Errorf("%s: client %d got the response of a write that is not in the store: %s", request.Key, operation.Client, describe(request, response)))
			} else {
				operation.Response.Object.Revision = s.changes[change].Object.Revision
				account(change, operation)
			}
		}
		settled = append(settled, operation)
	}
	for _, operation := range unanswered {
		operation.Return = never
		if operation.Request.Verb == Delete {
			// It is unknown which of several requests has deleted the object.
			if s.hasOtherDeletion(operation.Request.Key, asked) {
				settled = append(settled, operation)
			}
			continue
		}
		if change, found := s.findWritten(operation.Request); found {
			operation.Response = Response{Done, s.changes[change].Object}
			account(change, operation)
			settled = append(settled, operation)
		}
	}
	return settled, append(errs, s.checkAsked(asked, unanswered)...)
}

// find returns the change of a response.
func (s *store) find(request Request, response Response) (int, bool) {
	if request.Verb == Delete {
		change, found := s.deletions[response.Object.UID]
		return change, found && s.changes[change].Key == request.Key
	}
	change, found := s.byRevision[response.Object.Revision]
	if !found {
		return 0, false
	}
	has := s.changes[change]
	return change, has.Type != watch.Deleted && has.Key == request.Key && has.Object == response.Object
}

// findWritten returns the change with what the request wrote.
func (s *store) findWritten(request Request) (change int, found bool) {
	if request.Verb == Patch {
		change, found = s.byNote[request.Note]
	} else {
		change, found = s.bySpec[request.Spec]
	}
	return change, found && s.changes[change].Key == request.Key
}

// hasOtherDeletion returns whether a request without a response may have deleted the object.
func (s *store) hasOtherDeletion(key Key, asked map[int]Operation) bool {
	for _, change := range s.deletions {
		if _, isAsked := asked[change]; !isAsked && s.changes[change].Key == key {
			return true
		}
	}
	return false
}

// checkAsked checks that a client has requested every change, once.
func (s *store) checkAsked(asked map[int]Operation, unanswered []Operation) (errs []error) {
	deletions := map[Key]int{}
	for _, operation := range unanswered {
		if operation.Request.Verb == Delete {
			deletions[operation.Request.Key]++
		}
	}
	for i, change := range s.changes {
		if _, isAsked := asked[i]; isAsked {
			continue
		}
		if change.Type == watch.Deleted && deletions[change.Key] > 0 {
			deletions[change.Key]--
			continue
		}
		errs = append(errs, fmt.Errorf("the store has a change that no client has requested: %s %s %s", change.Type, change.Key, describeObject(change.Object)))
	}
	return errs
}

// after returns the number of changes up to a revision.
func (s *store) after(revision int64) int {
	at, found := slices.BinarySearchFunc(s.changes, revision, func(change Change, revision int64) int { return cmp.Compare(change.Object.Revision, revision) })
	if found {
		at++
	}
	return at
}

// checkList checks that a list matches the store at its revision.
func (s *store) checkList(list List) (errs []error) {
	stored := map[string]Object{}
	for _, change := range s.changes[:s.after(list.Revision)] {
		switch {
		case change.Key.Resource != list.Resource:
		case change.Type == watch.Deleted:
			delete(stored, change.Key.Name)
		default:
			stored[change.Key.Name] = change.Object
		}
	}
	wrong := func(name, has, stored string) {
		errs = append(errs, fmt.Errorf("client %d: the list of %s at revision %d has %s %s, and the store had %s", list.Client, list.Resource, list.Revision, name, has, stored))
	}
	for name, object := range list.Objects {
		switch has, exists := stored[name]; {
		case !exists:
			wrong(name, describeObject(object), "none")
		case has != object:
			wrong(name, describeObject(object), describeObject(has))
		}
	}
	for name, object := range stored {
		if _, isListed := list.Objects[name]; !isListed {
			wrong(name, "not", describeObject(object))
		}
	}
	return errs
}

// checkWatch checks that a watch has every change once and in order, up to its last revision.
func (s *store) checkWatch(told Watch) []error {
	next := s.after(told.From)
	wrong := func(format string, args ...any) []error {
		return []error{fmt.Errorf("client %d: the watch of %s from revision %d: %s", told.Client, told.Resource, told.From, fmt.Sprintf(format, args...))}
	}
	for _, event := range told.Events {
		for next < len(s.changes) && s.changes[next].Key.Resource != told.Resource {
			next++
		}
		if event.Type == watch.Bookmark {
			if next < len(s.changes) && s.changes[next].Object.Revision <= event.Object.Revision {
				return wrong("a bookmark says %d, and it has not reported %s %s", event.Object.Revision, s.changes[next].Type, describeObject(s.changes[next].Object))
			}
			continue
		}
		if next == len(s.changes) {
			return wrong("it reported %s %s, and there was no further change", event.Type, describeObject(event.Object))
		}
		if change := s.changes[next]; change.Type != event.Type || change.Key.Name != event.Name || change.Object != event.Object {
			return wrong("it reported %s %s %s, and the next change was %s %s %s", event.Type, event.Name, describeObject(event.Object),
				change.Type, change.Key.Name, describeObject(change.Object))
		}
		next++
	}
	return nil
}
