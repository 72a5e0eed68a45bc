// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
	"k8s.io/apimachinery/pkg/types"
)

// model is the sequential specification of an API server for the requests for one object.
var model = func() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(before, input, output any) []any {
			var after []any
			for _, next := range before.(state).serve(input.(Request), output.(Response)) {
				after = append(after, next)
			}
			return after
		},
		DescribeOperation: func(input, output any) string { return describe(input.(Request), output.(Response)) },
		DescribeState:     func(of any) string { return of.(state).String() },
	}
	return nondeterministic.ToModel()
}()

// state is the known state of an object. After a write without a response, UID and Revision are empty until a client observes them.
type state struct {
	exists bool
	object Object
	// former is the UID of the last object that was deleted.
	former types.UID
	// after is a revision that later writes must exceed.
	after int64
}

func (s state) String() string {
	if !s.exists {
		return fmt.Sprintf("none after %d", s.after)
	}
	return describeObject(s.object)
}

// serve returns the possible states after this response to the request, none if the response is impossible.
func (s state) serve(request Request, response Response) []state {
	if response.Outcome == Unknown {
		return s.serveUnanswered(request)
	}
	if next, ok := s.serveAnswered(request, response); ok {
		return []state{next}
	}
	return nil
}

func (s state) serveAnswered(request Request, response Response) (state, bool) {
	switch response.Outcome {
	case NotFound:
		return s, !s.exists && request.Verb != Create && request.Verb != Apply
	case AlreadyExists:
		return s, s.exists && request.Verb == Create
	case Conflict:
		// A patch with repeated conflicts fails.
		return s, s.exists && s.mayFail(request) || request.Verb == Patch || request.Verb == Apply
	case Done:
	default:
		return s, false
	}
	switch request.Verb {
	case Create:
		if s.exists {
			return s, false
		}
		return s.create(request).observe(response.Object)
	case Apply:
		if !s.exists {
			return s.create(request).observe(response.Object)
		}
	case Get:
		if !s.exists {
			return s, false
		}
		return s.observe(response.Object)
	default:
	}
	if !s.exists || !s.mayHold(request) {
		return s, false
	}
	s = s.bind(request)
	if request.Verb == Delete {
		return s.observeDeletion(response.Object)
	}
	return s.write(request).observe(response.Object)
}

// serveUnanswered returns the possible states after a request without a response was served. A request that was never served is
// like a request that is served after the last observation of every client.
func (s state) serveUnanswered(request Request) []state {
	switch {
	case !s.exists && (request.Verb == Create || request.Verb == Apply):
		return []state{s.create(request)}
	case !s.exists, request.Verb == Create:
		return []state{s}
	}
	var next []state
	if s.mayHold(request) {
		if bound := s.bind(request); request.Verb == Delete {
			next = append(next, bound.delete())
		} else {
			next = append(next, bound.write(request))
		}
	}
	if s.mayFail(request) {
		next = append(next, s)
	}
	return next
}

// observe sets the state to the state that a client observed.
func (s state) observe(object Object) (state, bool) {
	isNew := s.object.Revision == 0
	if isNew {
		s.object.Revision = object.Revision
	}
	if s.object.UID == "" {
		s.object.UID = object.UID
	}
	if s.object != object || object.UID == s.former || isNew && object.Revision <= s.after {
		return s, false
	}
	s.after = object.Revision
	return s, true
}

func (s state) create(request Request) state {
	s.exists = true
	s.object = Object{Generation: 1, Spec: request.Spec}
	if request.Verb == Create {
		s.object.Note = request.Note
	}
	return s
}

func (s state) write(request Request) state {
	before := s.object
	if request.Verb != Patch {
		s.object.Spec = request.Spec
	}
	if request.Verb != Apply {
		s.object.Note = request.Note
	}
	if s.object.Spec != before.Spec {
		s.object.Generation++
	}
	if s.object != before {
		s.object.Revision = 0
	}
	return s
}

func (s state) delete() state {
	return state{former: s.object.UID, after: s.after}
}

// observeDeletion deletes the object after an acknowledged deletion.
func (s state) observeDeletion(object Object) (state, bool) {
	if s.object.UID == "" {
		s.object.UID = object.UID
	}
	isPossible := s.object.UID == object.UID && (object.Revision == 0 || object.Revision > s.after)
	s = s.delete()
	s.after = max(s.after, object.Revision)
	return s, isPossible
}

// mayHold returns whether the preconditions may hold.
func (s state) mayHold(request Request) bool {
	return (request.UID == "" || s.object.UID == "" || s.object.UID == request.UID) &&
		(request.Revision == 0 || s.object.Revision == request.Revision || s.object.Revision == 0 && request.Revision > s.after)
}

// mayFail returns whether a precondition may fail.
func (s state) mayFail(request Request) bool {
	return request.UID != "" && s.object.UID != request.UID || request.Revision != 0 && s.object.Revision != request.Revision
}

// bind sets unknown fields of the state to the preconditions.
func (s state) bind(request Request) state {
	if request.UID != "" {
		s.object.UID = request.UID
	}
	if request.Revision != 0 {
		s.object.Revision = request.Revision
		s.after = max(s.after, request.Revision)
	}
	return s
}

// describe returns a description of an operation for a picture.
func describe(request Request, response Response) string {
	words := []string{string(request.Verb)}
	if request.Spec != "" {
		words = append(words, "spec="+request.Spec)
	}
	if request.Note != "" {
		words = append(words, "note="+request.Note)
	}
	if request.UID != "" {
		words = append(words, "if uid="+string(request.UID))
	}
	if request.Revision != 0 {
		words = append(words, fmt.Sprintf("if revision=%d", request.Revision))
	}
	words = append(words, "->", string(response.Outcome))
	if response.Object != (Object{}) {
		words = append(words, describeObject(response.Object))
	}
	return strings.Join(words, " ")
}

func describeObject(object Object) string {
	return fmt.Sprintf("{revision %d, generation %d, uid %s, spec %s, note %s}", object.Revision, object.Generation, object.UID, object.Spec, object.Note)
}
