// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
)

// LiveChildren are the children of a box as the cluster has them. It is an apply.Source.
type LiveChildren struct {
	named     map[childName]apply.Object
	all       map[schema.GroupVersionKind][]apply.Object
	hidden    map[schema.GroupVersionKind]bool
	notServed map[schema.GroupVersionKind]bool
}

// childName tells the children of a box apart.
type childName struct {
	kind schema.GroupVersionKind
	name string
}

// NewLiveChildren returns the LiveChildren of a cluster that has none.
func NewLiveChildren() *LiveChildren {
	return &LiveChildren{
		named:     map[childName]apply.Object{},
		all:       map[schema.GroupVersionKind][]apply.Object{},
		hidden:    map[schema.GroupVersionKind]bool{},
		notServed: map[schema.GroupVersionKind]bool{},
	}
}

// SetChild sets the object that has the name of a child of the kind, whatever its owner.
func (l *LiveChildren) SetChild(kind schema.GroupVersionKind, object apply.Object) {
	l.named[childName{kind, object.GetName()}] = object
}

// SetChildren sets the objects of the kind that the box may control, sorted by name.
func (l *LiveChildren) SetChildren(kind schema.GroupVersionKind, objects []apply.Object) {
	l.all[kind] = objects
}

// Hide says that the children of the kind must not be shown.
func (l *LiveChildren) Hide(kind schema.GroupVersionKind) { l.hidden[kind] = true }

// IsHidden returns whether the children of the kind must not be shown.
func (l *LiveChildren) IsHidden(kind schema.GroupVersionKind) bool { return l.hidden[kind] }

// SetNotServed says that the cluster does not serve the kind.
func (l *LiveChildren) SetNotServed(kind schema.GroupVersionKind) { l.notServed[kind] = true }

// Child implements apply.Source.
func (l *LiveChildren) Child(kind *apply.Kind, rendered *unstructured.Unstructured) (apply.Object, error) {
	return l.named[childName{kind.GroupVersionKind, rendered.GetName()}], nil
}

// Children implements apply.Source.
func (l *LiveChildren) Children(kind *apply.Kind, _ metav1.Object) ([]apply.Object, error) {
	return l.all[kind.GroupVersionKind], nil
}

// IsLive implements apply.Source.
func (l *LiveChildren) IsLive() bool { return true }
