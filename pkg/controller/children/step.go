// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"slices"
	"strings"

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

// label is the operation as metrics have it.
func (o Operation) label() string { return strings.ToLower(string(o)) }

// Step is one child and what has to be done about it.
type Step struct {
	Operation Operation
	Kind      *Kind
	// Difference is how the live child differs from what is rendered; nil unless the fields were compared.
	Difference *fields.Difference

	// ignored are the fields that other managers have set and may set; nil if there are none. If they come from a cache, the owner
	// may have just begun to ask for some of them. If isLive is true, rendered is without them.
	ignored *fieldpath.Set

	// rendered is what the owner asks for; nil to prune.
	rendered *unstructured.Unstructured
	// live is the child as the cache has it; nil where there is none.
	live Object
	// isLive says that it is as the cluster has it, which also tells its managed fields.
	isLive bool
	// isOwnedByPredecessor says that the live child belongs to an owner of the name that was there before.
	isOwnedByPredecessor bool
	// isUsed says that the live child is not the owner's, and is used as it is.
	isUsed bool
	// answer is what the cluster answered when this render was applied to the live child; nil where that is not known.
	answer *appliedAnswer
	// refusal is why the live child is not the owner's; nil unless to refuse.
	refusal error
	// obstacle is what keeps the live child from becoming the rendered one; empty unless to replace.
	obstacle string
}

// Live is the child as it is before the step, nil where there is none. It may be the cache's own and must not be changed.
func (s *Step) Live() Object { return s.live }

// Name is the name of the child.
func (s *Step) Name() string {
	if s.rendered == nil {
		return s.live.GetName()
	}
	return s.rendered.GetName()
}

// isOf returns whether the rendered object is the child of the step.
func (s *Step) isOf(rendered *unstructured.Unstructured) bool {
	return rendered.GroupVersionKind() == s.Kind.GroupVersionKind && rendered.GetName() == s.Name()
}

// keepsFields returns whether the child has the same fields afterwards, but for the record of its owner, or is that record.
func (s *Step) keepsFields() bool {
	if s.Kind.RecordsOwner {
		return true
	}
	switch s.Operation {
	case Keep, Record, Reclaim, Reject, Refuse:
		return true
	case Restore:
		return s.Difference.Fields.Equals(recordFields)
	default:
		return false
	}
}

// isWithoutPrerequisites returns whether the step changes a child that relies on another child, which could not be written. It
// returns false if nothing else would end the wait: if the child relies on one that is being deleted and that stays until this
// child is gone, or if the child belongs to an owner that is gone.
func (s *Step) isWithoutPrerequisites(result *Result) bool {
	switch s.Operation {
	case Create, Update, Replace, Adopt:
		return !(s.Operation == Replace && s.isOwnedByPredecessor) && slices.ContainsFunc(result.unusable, func(other Step) bool {
			return slices.Contains(s.Kind.Prerequisites, other.Kind) && !s.reliesAlready(other)
		})
	default:
		return false
	}
}

// reliesAlready returns whether the live child relies on the child of the other step, which is being deleted.
func (s *Step) reliesAlready(other Step) bool {
	return s.live != nil && (s.Operation == Update || s.Operation == Replace) && other.Operation == Wait &&
		s.Kind.Relies != nil && s.Kind.Relies(s.live, other.live)
}

// needsLive returns whether the step cannot be done on the word of a cache: because the cache may hide what there is, or
// lacks the managed fields.
func (s *Step) needsLive() bool {
	switch s.Operation {
	case Create, Restore, Reclaim, Adopt:
		return true
	case Update:
		return s.Difference.IsObstructed() || s.ignored != nil
	case Record:
		return !ownsRecord(s.live)
	case Replace:
		return !s.isOwnedByPredecessor
	default:
		return false
	}
}

// isSameAs returns whether another look at the child led to the same.
func (s *Step) isSameAs(other Step) bool {
	return s.Operation == other.Operation && s.isOwnedByPredecessor == other.isOwnedByPredecessor && (s.live == nil) == (other.live == nil)
}
