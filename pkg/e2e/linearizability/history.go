// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Key names an object: the plural of its kind, and its name.
type Key struct{ Resource, Name string }

func (k Key) String() string { return k.Resource + "/" + k.Name }

// Object is what clients see of an object. A change of Spec is a new generation, one of Note is not.
type Object struct {
	UID        types.UID
	Revision   int64
	Generation int64
	Spec, Note string
}

// Verb is what a client asks for.
type Verb string

// The verbs of requests for one object.
const (
	Create Verb = "create"
	Get    Verb = "get"
	Update Verb = "update"
	Patch  Verb = "patch"
	Apply  Verb = "apply"
	Delete Verb = "delete"
)

// Request is what a client asked for. Create and Update write Spec and Note, Apply writes Spec, and Patch writes Note. No two
// requests of a history write the same.
type Request struct {
	Verb       Verb
	Key        Key
	Spec, Note string
	// UID and Revision are the preconditions of Update and Delete: none where they are empty.
	UID      types.UID
	Revision int64
}

// Outcome is how a request ended.
type Outcome string

// The outcomes of requests that may have had an effect, or say something about the object. Others are in no history.
const (
	Done          Outcome = "done"
	NotFound      Outcome = "not found"
	AlreadyExists Outcome = "already exists"
	Conflict      Outcome = "conflict"
	// Unknown is that of a request whose answer got lost: it may have been served, may still be, or never.
	Unknown Outcome = "unknown"
)

// Response is what the client was answered. Of a deleted object that is the UID.
type Response struct {
	Outcome Outcome
	Object  Object
}

// Operation is a request for one object, with the times between which it was served.
type Operation struct {
	Client       int
	Request      Request
	Response     Response
	Call, Return time.Duration
}

// List is an answer with all objects of a resource, by name.
type List struct {
	Client       int
	Resource     string
	Revision     int64
	Objects      map[string]Object
	Call, Return time.Duration
}

// Watch is what one request to watch a resource was told.
type Watch struct {
	Client   int
	Resource string
	// From is the revision that the client had seen before. All that follow are to be told.
	From   int64
	Events []Event
}

// Event is an event of a watch. A bookmark has nothing but a revision.
type Event struct {
	Type     watch.EventType
	Name     string
	Object   Object
	Received time.Duration
}

// Expired is a watch that was refused because the server no longer knew what followed a revision.
type Expired struct {
	Resource string
	From     int64
	// Seen is when the client was told of the revision, Refused when the watch was.
	Seen, Refused time.Duration
}

// Outage is the time in which a server ended and was started again.
type Outage struct{ Begin, End time.Duration }

// Change is a change in the store. That of an object that was deleted has what there was before, with the revision of the
// deletion.
type Change struct {
	Type   watch.EventType
	Key    Key
	Object Object
}

// History is all that clients of a store were told in some time, and what happened in the store meanwhile.
type History struct {
	Operations []Operation
	Lists      []List
	Watches    []Watch
	Expired    []Expired
	Outages    []Outage
	// Changes are all of the store, in its order. There was no object before.
	Changes []Change
}
