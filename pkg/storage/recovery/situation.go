// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import "slices"

// Situation is the result of the comparison of a store with the Lease and the children in the cluster.
type Situation string

const (
	// Current is the store that the Lease names, at the revision on the Lease or a later one.
	Current Situation = "Current"
	// New is an empty store, if no Lease names a store and the cluster has no recorded objects.
	New Situation = "New"
	// Empty is an empty store, if the Lease names another store or the cluster has recorded objects.
	Empty Situation = "Empty"
	// Behind is a store that was rolled back, that was restored from a snapshot, or that another store has replaced.
	Behind Situation = "Behind"
	// Foreign is a store with objects that is not the store that the Lease names, and unrelated to it.
	Foreign Situation = "Foreign"
)

// assess compares a store with the mark of the Lease. It calls hasObjects, for the objects in the store, and hasRecords, for the
// records in the cluster, only if the result depends on them.
func assess(store Position, mark Mark, hasObjects, hasRecords func() (bool, error)) (Situation, error) {
	own := store.Identity
	switch {
	case own.Recovery != nil:
		return own.Recovery.Situation, nil
	// A store that is restored from a snapshot may have a later revision than the original store.
	case store.isRestored() && (mark.Store == "" || mark.Store == own.UID || slices.Contains(own.Ancestors, mark.Store)):
		return Behind, nil
	case mark.Store != "" && mark.Store == own.UID:
		if store.Revision < mark.Revision {
			return Behind, nil
		}
		return Current, nil
	// The store was recovered, and the Lease does not have it yet.
	case mark.Store != "" && slices.Contains(own.Ancestors, mark.Store):
		return Current, nil
	}
	isFilled, err := hasObjects()
	if err != nil {
		return "", err
	}
	switch {
	case mark.Store == "" && isFilled:
		return Current, nil
	case mark.Store == "":
		isRecorded, err := hasRecords()
		if err != nil {
			return "", err
		}
		if isRecorded {
			return Empty, nil
		}
		return New, nil
	case !isFilled:
		return Empty, nil
	case slices.Contains(mark.Ancestors, own.UID):
		return Behind, nil
	default:
		return Foreign, nil
	}
}
