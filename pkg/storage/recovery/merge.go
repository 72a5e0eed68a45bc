// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// action is what is done about a box that is recorded.
type action string

const (
	keep    action = "kept"
	create  action = "created"
	update  action = "updated"
	replace action = "replaced"
	// remove is of a box that is not recorded.
	remove action = "removed"
)

// merge returns what is done about a recorded box, given the box of the same name in the store, nil for none.
//
// Of the same box, the later generation counts, and the record where they are the same: the cluster was told after the
// store. Of two boxes, the one that was created later counts: the other one was deleted before. In a foreign store
// though, that says nothing, and the one counts whose application runs. Where both are recorded, both run.
func merge(situation Situation, stored *summary, record *modelv1.ModelBox) action {
	switch {
	case stored == nil:
		return create
	case stored.UID == record.UID && (stored.IsDeleted || stored.Generation > record.Generation):
		return keep
	case stored.UID == record.UID:
		return update
	case situation == Foreign && !stored.IsRestored || !record.CreationTimestamp.Before(&stored.Created):
		return replace
	default:
		return keep
	}
}

// wasDeleted returns whether a box in the store was deleted after the store was as it is, which is before the loss: it
// had children, and has none.
func wasDeleted(situation Situation, stored summary, hasChildren bool) bool {
	return situation == Behind && stored.IsApplied && !hasChildren
}
