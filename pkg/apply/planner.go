// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package apply plans how the children of owners become as the owners ask for. It compares what is rendered for an owner with the
// live objects of a Source, and says what has to be done about each child. It is pure: it reads nothing but its Source, and writes
// nothing. The controllers carry the plans out, and the subresource diff shows them.
package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// Object is an owner or a child as the API has it. A child that comes from a Source carries its kind.
type Object = fields.Object

// Owners is what a Planner needs to know about the owners of a kind. Every field but Ignored, IsRecordOf and ConsentIsOnChild is
// required.
type Owners[O Object] struct {
	// OwnerKind is the kind of the owners, as it is in owner references.
	OwnerKind schema.GroupVersionKind
	// Noun is what messages call an owner, such as "box".
	Noun string

	// Ignored returns the paths of the fields that other managers may set on the owner's children of a kind, as childfields.Parse
	// reads them. If it is nil, all fields are restored.
	Ignored func(owner O, kind string) []string

	// IsRecordOf returns whether a child's record of an owner is of this one, of whatever UID, with the spec that it has. Nil is
	// for owners of which children have no record.
	IsRecordOf func(owner O, record string) bool

	// ConsentIsOnChild requires AdoptAnnotation on the object that an owner adopts, and not on the owner. It is for owners whose
	// authors need no permission to write the children: only users who may update the object can annotate it. Adoption removes
	// the annotation, so a consent is good for one adoption.
	ConsentIsOnChild bool
}

// Planner plans for the owners of a kind. Several goroutines may use a Planner.
type Planner[O Object] struct {
	Owners[O]
	// Comparer compares the children.
	Comparer *fields.Comparer
	// Answers are the answers of the cluster to what was applied. Nil is for a planner that knows none: for that one, a field that
	// the cluster does not accept is a field to restore.
	Answers *Answers
}

// Source has the live objects that a plan is about. An object that it returns may be shared and must not be changed.
type Source interface {
	// Child returns the object that has the kind, namespace and name of the rendered child, nil if there is none.
	Child(kind *Kind, rendered *unstructured.Unstructured) (Object, error)
	// Children returns the objects of the kind that the owner controls, whatever their names, sorted by name. It may return objects
	// of other owners as well.
	Children(kind *Kind, owner metav1.Object) ([]Object, error)
	// IsLive returns whether the objects are as the cluster has them, with their managed fields. A cache may be behind, hides
	// objects of others, and has been trimmed, see Trim.
	IsLive() bool
}
