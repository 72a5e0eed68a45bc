// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// action is the action of a recovery on an object.
type action string

const (
	keep    action = "kept"
	create  action = "created"
	update  action = "updated"
	replace action = "replaced"
	// remove is only for objects without a record.
	remove action = "removed"
)

// merge returns the action for a recorded object, given the object of the same kind and name in the store, nil if there is none.
//
// If both have the same UID, the later generation wins. If the generations are equal, the record wins, because it was written after
// the object was stored. If the UIDs differ, the object that was created later wins, because the other object was deleted before.
// In a foreign store, the recorded object wins, because its children exist. If both objects are recorded, the children of both
// exist, and the object that was created later wins.
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

// wasDeleted returns whether an object in a store that is Behind was deleted after the revision of the store: the object had
// children, and has none now.
func wasDeleted(situation Situation, stored summary, hasChildren bool) bool {
	return situation == Behind && stored.IsApplied && !hasChildren
}
