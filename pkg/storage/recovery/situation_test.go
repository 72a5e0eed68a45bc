// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAssessComparesTheStoreWithTheMark(t *testing.T) {
	at := func(revision int64, uid types.UID, ancestors ...types.UID) Position {
		return Position{Identity: Identity{UID: uid, Ancestors: ancestors}, Revision: revision}
	}
	// An etcd cluster that is restored from a snapshot starts at a later revision than the snapshot.
	restored := func(uid types.UID, ancestors ...types.UID) Position {
		return Position{Identity: Identity{UID: uid, ClusterID: 1, Ancestors: ancestors}, Revision: 1_000_000_000, ClusterID: 2}
	}
	begun := Position{Identity: Identity{UID: "a", Recovery: &Recovery{Situation: Behind}}, Revision: 1000}
	for _, row := range []struct {
		name                  string
		store                 Position
		mark                  Mark
		hasBoxes, hasChildren bool
		want                  Situation
	}{
		{"the first start", at(1, ""), Mark{}, false, false, New},
		{"an upgrade from a release without identities", at(500, ""), Mark{}, true, true, Current},
		{"a store that was lost before the cluster knew it", at(1, ""), Mark{}, false, true, Empty},
		{"a Lease that a user deleted", at(500, "a"), Mark{}, true, true, Current},
		{"a restart", at(500, "a"), Mark{Store: "a", Revision: 400}, true, true, Current},
		{"a restart where nothing was written since", at(500, "a"), Mark{Store: "a", Revision: 500}, true, true, Current},
		{"a restart with every box deleted", at(500, "a"), Mark{Store: "a", Revision: 500}, false, true, Current},
		{"a new data directory", at(1, ""), Mark{Store: "a", Revision: 500}, false, true, Empty},
		{"a new data directory, and no children", at(1, ""), Mark{Store: "a", Revision: 500}, false, false, Empty},
		{"an older store", at(499, "a"), Mark{Store: "a", Revision: 500}, true, true, Behind},
		{"an older store without boxes", at(3, "a"), Mark{Store: "a", Revision: 500}, false, true, Behind},
		{"a store that another has taken the place of", at(900, "a"), Mark{Store: "b", Revision: 500, Ancestors: []types.UID{"a"}}, true, true, Behind},
		{"the same without boxes", at(900, "a"), Mark{Store: "b", Revision: 500, Ancestors: []types.UID{"a"}}, false, true, Empty},
		{"the store of another cluster", at(900, "x"), Mark{Store: "a", Revision: 500}, true, true, Foreign},
		{"a store of an older release in place of the known one", at(900, ""), Mark{Store: "a", Revision: 500}, true, true, Foreign},
		{"a recovered store that is not on the Lease yet", at(900, "b", "a"), Mark{Store: "a", Revision: 500}, true, true, Current},
		{"a snapshot that was restored", restored("a"), Mark{Store: "a", Revision: 500}, true, true, Behind},
		{"a snapshot that was restored, and a Lease that a user deleted", restored("a"), Mark{}, true, true, Behind},
		{"a snapshot of a recovered store that is not on the Lease yet", restored("b", "a"), Mark{Store: "a", Revision: 500}, true, true, Behind},
		{"a snapshot of before a recovery", restored("a"), Mark{Store: "b", Revision: 500, Ancestors: []types.UID{"a"}}, true, true, Behind},
		{"a snapshot of another cluster's store", restored("x"), Mark{Store: "a", Revision: 500}, true, true, Foreign},
		{"a recovery that has not ended", begun, Mark{Store: "a", Revision: 500}, true, true, Behind},
	} {
		t.Run(row.name, func(t *testing.T) {
			answer := func(has bool) func() (bool, error) { return func() (bool, error) { return has, nil } }
			got, err := assess(row.store, row.mark, answer(row.hasBoxes), answer(row.hasChildren))
			if err != nil {
				t.Fatal(err)
			}
			if got != row.want {
				t.Errorf("the situation is %s, want %s", got, row.want)
			}
		})
	}
}

func TestARestartAsksForNothing(t *testing.T) {
	asked := func() (bool, error) {
		t.Error("assess lists objects")
		return false, nil
	}
	if _, err := assess(Position{Identity: Identity{UID: "a"}, Revision: 5}, Mark{Store: "a", Revision: 5}, asked, asked); err != nil {
		t.Error(err)
	}
}

func TestAClusterThatCannotBeAskedIsNoNewOne(t *testing.T) {
	no := func() (bool, error) { return false, nil }
	cut := func() (bool, error) { return false, errors.New("cut off") }
	if got, err := assess(Position{}, Mark{}, no, cut); err == nil {
		t.Errorf("the situation is %s", got)
	}
	if got, err := assess(Position{}, Mark{Store: "a"}, cut, no); err == nil {
		t.Errorf("the situation is %s", got)
	}
}
