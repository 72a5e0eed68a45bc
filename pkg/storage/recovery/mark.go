// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// StoreLabel of the Lease is the UID of the store that its holder serves from.
	StoreLabel = "model.github.com/store"
	// RevisionLabel of the Lease is a revision that the store had reached when the Lease was last renewed.
	RevisionLabel = "model.github.com/store-revision"
	// AncestorsAnnotation of the Lease has the UIDs of the stores that the store has replaced, the latest first.
	AncestorsAnnotation = "model.github.com/store-ancestors"

	// maxAncestors limits the number of ancestors. An older ancestor counts as a foreign store.
	maxAncestors = 50
)

// Mark is the record of the store on the Lease. The zero value means that the Lease names no store.
type Mark struct {
	Store     types.UID   `json:"store,omitempty"`
	Revision  int64       `json:"revision,omitempty"`
	Ancestors []types.UID `json:"ancestors,omitempty"`
}

// markOf returns the mark of a Lease. The lease may be nil.
func markOf(lease *coordinationv1.Lease) (Mark, error) {
	if lease == nil || lease.Labels[StoreLabel] == "" {
		return Mark{}, nil
	}
	mark := Mark{Store: types.UID(lease.Labels[StoreLabel])}
	if text := lease.Labels[RevisionLabel]; text != "" {
		revision, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Mark{}, fmt.Errorf("label %s of Lease %s/%s must be a number: %w", RevisionLabel, lease.Namespace, lease.Name, err)
		}
		mark.Revision = revision
	}
	for _, ancestor := range strings.Split(lease.Annotations[AncestorsAnnotation], ",") {
		if ancestor != "" {
			mark.Ancestors = append(mark.Ancestors, types.UID(ancestor))
		}
	}
	return mark, nil
}

// setMark records a store and its revision on a Lease. It never decreases the revision of the same store.
func setMark(lease *coordinationv1.Lease, position Position) {
	if before, err := markOf(lease); err == nil && before.Store == position.Identity.UID && before.Revision >= position.Revision {
		return
	}
	if lease.Labels == nil {
		lease.Labels = map[string]string{}
	}
	lease.Labels[StoreLabel] = string(position.Identity.UID)
	lease.Labels[RevisionLabel] = strconv.FormatInt(position.Revision, 10)
	if len(position.Identity.Ancestors) == 0 {
		delete(lease.Annotations, AncestorsAnnotation)
		return
	}
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	ancestors := make([]string, 0, len(position.Identity.Ancestors))
	for _, ancestor := range position.Identity.Ancestors {
		ancestors = append(ancestors, string(ancestor))
	}
	lease.Annotations[AncestorsAnnotation] = strings.Join(ancestors, ",")
}

// ancestorsOf returns the ancestors of a recovered store: the store of the mark, the former identity of the recovered store, and
// the ancestors of both.
func ancestorsOf(own Identity, mark Mark) []types.UID {
	var ancestors []types.UID
	for _, uid := range slices.Concat([]types.UID{mark.Store, own.UID}, mark.Ancestors, own.Ancestors) {
		if uid != "" && !slices.Contains(ancestors, uid) {
			ancestors = append(ancestors, uid)
		}
	}
	return ancestors[:min(len(ancestors), maxAncestors)]
}
