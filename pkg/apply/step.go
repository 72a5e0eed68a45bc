// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
)

// Operation is what has to be done about one child.
type Operation string

const (
	// Keep: the child is as rendered.
	Keep Operation = "Keep"
	// Create: the child is not there.
	Create Operation = "Create"
	// Update: the owner has changed what it asks for since the child was last written.
	Update Operation = "Update"
	// Restore: another client changed a field that the owner asks for.
	Restore Operation = "Restore"
	// Record: the child is as rendered, but for the record of the owner.
	Record Operation = "Record"
	// Reclaim: the child is as rendered, but another manager has taken over some of its fields.
	Reclaim Operation = "Reclaim"
	// Reject: the cluster does not take some field of the child as rendered.
	Reject Operation = "Reject"
	// Replace: the child cannot become what is rendered.
	Replace Operation = "Replace"
	// Prune: the owner no longer asks for the child.
	Prune Operation = "Prune"
	// Delete: the owner is being deleted.
	Delete Operation = "Delete"
	// Adopt: an object without a controller has the name, and the owner may take it over.
	Adopt Operation = "Adopt"
	// Refuse: an object that does not belong to the owner has the name.
	Refuse Operation = "Refuse"
	// Wait: the child is being deleted, and can only be created again when it is gone.
	Wait Operation = "Wait"
)

// Step is one child and what has to be done about it.
type Step struct {
	Operation Operation
	Kind      *Kind
	// Difference is how the live child differs from what is rendered; nil unless the fields were compared.
	Difference *fields.Difference

	// Ignored are the fields that other managers have set and may set; nil if there are none. If they come from a cache, the owner
	// may have just begun to ask for some of them. If IsLive is true, Rendered is without them.
	Ignored *fieldpath.Set

	// Rendered is what the owner asks for; nil to prune.
	Rendered *unstructured.Unstructured
	// Live is the child as the Source has it; nil where there is none. It may be the Source's own and must not be changed.
	Live Object
	// IsLive says that it is as the cluster has it, which also tells its managed fields.
	IsLive bool
	// IsOwnedByPredecessor says that the live child belongs to an owner of the name that was there before.
	IsOwnedByPredecessor bool
	// IsUsed says that the live child is not the owner's, and is used as it is.
	IsUsed bool
	// IsCopy says that the live child is adopted because it is a copy of a child of the owner, as the restore of a backup leaves it.
	IsCopy bool
	// Refusal is why the live child is left alone; nil unless to refuse.
	Refusal error
	// Obstacle is what keeps the live child from becoming the rendered one; empty where nothing does.
	Obstacle string

	// answer is what the cluster answered when this render was applied to the live child; nil where that is not known.
	answer *answer
}

// Name is the name of the child.
func (s *Step) Name() string {
	if s.Rendered == nil {
		return s.Live.GetName()
	}
	return s.Rendered.GetName()
}

// IsOf returns whether the rendered object is the child of the step.
func (s *Step) IsOf(rendered *unstructured.Unstructured) bool {
	return rendered.GroupVersionKind() == s.Kind.GroupVersionKind && rendered.GetName() == s.Name()
}

// KeepsFields returns whether the child has the same fields afterwards, but for the record of its owner, or is that record.
func (s *Step) KeepsFields() bool {
	if s.Kind.RecordsOwner {
		return true
	}
	switch s.Operation {
	case Keep, Record, Reclaim, Reject, Refuse:
		return true
	case Restore:
		return s.Difference.Fields.Equals(RecordFields)
	default:
		return false
	}
}

// NeedsLive returns whether the step cannot be done on the word of a cache: because the cache may hide what there is, or
// lacks the managed fields.
func (s *Step) NeedsLive() bool {
	switch s.Operation {
	case Create, Restore, Reclaim, Adopt:
		return true
	case Update:
		return s.Difference.IsObstructed() || s.Ignored != nil
	case Record:
		return !OwnsRecord(s.Live) || s.Ignored != nil
	case Replace:
		return !s.IsOwnedByPredecessor
	default:
		return false
	}
}

// IsSameAs returns whether another look at the child led to the same.
func (s *Step) IsSameAs(other Step) bool {
	return s.Operation == other.Operation && s.IsOwnedByPredecessor == other.IsOwnedByPredecessor && (s.Live == nil) == (other.Live == nil)
}
