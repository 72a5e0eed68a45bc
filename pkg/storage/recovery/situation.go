// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import "slices"

// Situation is how a store is to what the cluster knows.
type Situation string

const (
	// Current is a store that has everything that it ever had.
	Current Situation = "Current"
	// New is an empty store, of a cluster that knows of no other and has nothing that boxes have made.
	New Situation = "New"
	// Empty is a store without boxes, where the cluster knows of another store, or has what boxes have made.
	Empty Situation = "Empty"
	// Behind is a store that had more before, that a snapshot was restored to, or that another has taken the place of.
	Behind Situation = "Behind"
	// Foreign is a store with boxes, and not the one that the cluster knows.
	Foreign Situation = "Foreign"
)

// assess compares a store with what the cluster knows of its store. hasBoxes and hasChildren are asked only where the
// answer depends on them.
func assess(store Position, mark Mark, hasBoxes, hasChildren func() (bool, error)) (Situation, error) {
	own := store.Identity
	switch {
	case own.Recovery != nil:
		return own.Recovery.Situation, nil
	// What is restored from a snapshot may have a later revision than the store that the snapshot is of.
	case store.isRestored() && (mark.Store == "" || mark.Store == own.UID || slices.Contains(own.Ancestors, mark.Store)):
		return Behind, nil
	case mark.Store != "" && mark.Store == own.UID:
		if store.Revision < mark.Revision {
			return Behind, nil
		}
		return Current, nil
	// The store was recovered, and the cluster has not been told.
	case mark.Store != "" && slices.Contains(own.Ancestors, mark.Store):
		return Current, nil
	}
	boxes, err := hasBoxes()
	if err != nil {
		return "", err
	}
	switch {
	case mark.Store == "" && boxes:
		return Current, nil
	case mark.Store == "":
		children, err := hasChildren()
		if err != nil {
			return "", err
		}
		if children {
			return Empty, nil
		}
		return New, nil
	case !boxes:
		return Empty, nil
	case slices.Contains(mark.Ancestors, own.UID):
		return Behind, nil
	default:
		return Foreign, nil
	}
}
