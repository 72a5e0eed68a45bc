// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// action is what is done about an object that is recorded.
type action string

const (
	keep    action = "kept"
	create  action = "created"
	update  action = "updated"
	replace action = "replaced"
	// remove is of an object that is not recorded.
	remove action = "removed"
)

// merge returns what is done about a recorded object, given the one of the same kind and name in the store, nil for none.
//
// Of the same object, the later generation counts, and the record where they are the same: the cluster was told after the
// store. Of two, the one that was created later counts: the other one was deleted before. In a foreign store
// though, that says nothing, and the one counts whose children are there. Where both are recorded, the children of both are.
func merge(situation Situation, stored *summary, record metav1.Object) action {
	created := record.GetCreationTimestamp()
	switch {
	case stored == nil:
		return create
	case stored.UID == record.GetUID() && (stored.IsDeleted || stored.Generation > record.GetGeneration()):
		return keep
	case stored.UID == record.GetUID():
		return update
	case situation == Foreign && !stored.IsRestored || !created.Before(&stored.Created):
		return replace
	default:
		return keep
	}
}

// wasDeleted returns whether an object in the store was deleted after the store was as it is, which is before the loss: it
// had children, and has none.
func wasDeleted(situation Situation, stored summary, hasChildren bool) bool {
	return situation == Behind && stored.IsApplied && !hasChildren
}
