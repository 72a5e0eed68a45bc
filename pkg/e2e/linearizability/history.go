// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package linearizability

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Key identifies an object by resource and name.
type Key struct{ Resource, Name string }

func (k Key) String() string { return k.Resource + "/" + k.Name }

// Object is an object as clients observe it. A change of Spec increases the generation, and a change of Note does not.
type Object struct {
	UID        types.UID
	Revision   int64
	Generation int64
	Spec, Note string
}

// Verb is the verb of a request.
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

// Request is a request of a client. Create and Update write Spec and Note, Apply writes Spec, and Patch writes Note. All requests
// of a history write different values.
type Request struct {
	Verb       Verb
	Key        Key
	Spec, Note string
	// UID and Revision are the preconditions of Update and Delete. A zero value is no precondition.
	UID      types.UID
	Revision int64
}

// Outcome is the outcome of a request.
type Outcome string

// The outcomes of requests that may have had an effect or have information about the object. A history does not include others.
const (
	Done          Outcome = "done"
	NotFound      Outcome = "not found"
	AlreadyExists Outcome = "already exists"
	Conflict      Outcome = "conflict"
	// Unknown is the outcome of a request without a response: it was served, will still be served, or will never be served.
	Unknown Outcome = "unknown"
)

// Response is the response to a request. For a deleted object, it only has the UID.
type Response struct {
	Outcome Outcome
	Object  Object
}

// Operation is a request for one object, with its start and end times.
type Operation struct {
	Client       int
	Request      Request
	Response     Response
	Call, Return time.Duration
}

// List is a response with all objects of a resource, by name.
type List struct {
	Client       int
	Resource     string
	Revision     int64
	Objects      map[string]Object
	Call, Return time.Duration
}

// Watch has the events of one watch request for a resource.
type Watch struct {
	Client   int
	Resource string
	// From is the revision from which the watch started. It must have all later changes.
	From   int64
	Events []Event
}

// Event is an event of a watch. A bookmark only has a revision.
type Event struct {
	Type     watch.EventType
	Name     string
	Object   Object
	Received time.Duration
}

// Expired is a watch that was refused with 410 Expired.
type Expired struct {
	Resource string
	From     int64
	// Refused is the time of the refusal.
	Refused time.Duration
}

// Outage is the time between the end of a server, or of its etcd, and the next start.
type Outage struct{ Begin, End time.Duration }

// Change is a change in the store. The change of a deleted object has its last state, with the revision of the deletion.
type Change struct {
	Type   watch.EventType
	Key    Key
	Object Object
}

// History has all responses to the clients of a store, and the changes in the store meanwhile.
type History struct {
	Operations []Operation
	Lists      []List
	Watches    []Watch
	Expired    []Expired
	Outages    []Outage
	// Changes are all changes in the store, in its order. The store had no objects before.
	Changes []Change
}
