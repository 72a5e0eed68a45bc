// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// Kind is a kind of children. The fields that are not required are optional.
type Kind struct {
	// GroupVersionKind and Resource are required.
	GroupVersionKind schema.GroupVersionKind
	Resource         schema.GroupResource

	// Known returns a rendered child without the fields that the cluster does not know, or the child itself if the cluster knows
	// all of them. Fields that are left out count as not accepted. Nil is a kind of which every cluster knows all fields.
	Known func(rendered *unstructured.Unstructured) *unstructured.Unstructured
	// Immutable returns what keeps the live child from becoming the rendered one, because the API does not let it be
	// changed, as "its selector is ...". It is empty where nothing does. Nil is a kind of which everything can be changed.
	Immutable func(rendered *unstructured.Unstructured, live Object) string
	// IsChild returns whether an object that the owner controls is a child in the sense of a plan. A plan deletes no others. Nil is a kind of
	// which all are.
	IsChild func(live Object) bool
	// HandOver returns fields of the live child that the render gives up and that keep their values until another manager sets
	// them, nil if there are none. They are applied under HandoverManager before the render is. Nil is a kind that hands over no
	// fields.
	HandOver func(rendered *unstructured.Unstructured, live Object) (*unstructured.Unstructured, error)
	// RecordsOwner makes it a kind of children that record their owner. Such a child is written even while the owner is paused, and
	// no event reports it.
	RecordsOwner bool
	// Retention is for a kind of children that hold data. Nil is a kind whose children can be created again without loss.
	Retention *Retention
}

// HandoverManager is the field manager of fields that an owner gives up, until another manager sets them. The API would reset a
// field without a manager to its default.
const HandoverManager = render.FieldManager + "-handover"

// Name is what messages call the kind.
func (k *Kind) Name() string { return k.GroupVersionKind.Kind }

// Configuration returns the rendered child as it is applied: Known of a kind that may have none.
func (k *Kind) Configuration(rendered *unstructured.Unstructured) *unstructured.Unstructured {
	if k.Known == nil {
		return rendered
	}
	return k.Known(rendered)
}

// immutable is Immutable of a kind that may have none.
func (k *Kind) immutable(rendered *unstructured.Unstructured, live Object) string {
	if k.Immutable == nil {
		return ""
	}
	return k.Immutable(rendered, live)
}

// isChild is IsChild of a kind that may have none.
func (k *Kind) isChild(live Object) bool { return k.IsChild == nil || k.IsChild(live) }

// mismatch is Mismatch of a kind that may have no Retention.
func (k *Kind) mismatch(rendered *unstructured.Unstructured, live Object) string {
	if k.Retention == nil {
		return ""
	}
	return k.Retention.Mismatch(rendered, live)
}
