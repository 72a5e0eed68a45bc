// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func mustMark(t *testing.T, lease *coordinationv1.Lease) Mark {
	t.Helper()
	mark, err := markOf(lease)
	if err != nil {
		t.Fatal(err)
	}
	return mark
}

func TestAMarkIsReadAsItWasSet(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "shop"}}}
	setMark(lease, Position{Identity: Identity{UID: "c", Ancestors: []types.UID{"b", "a"}}, Revision: 12})
	if diff := cmp.Diff(Mark{Store: "c", Revision: 12, Ancestors: []types.UID{"b", "a"}}, mustMark(t, lease)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if lease.Labels["team"] != "shop" {
		t.Error("the label of another client was removed")
	}
	setMark(lease, Position{Identity: Identity{UID: "d"}, Revision: 3})
	if diff := cmp.Diff(Mark{Store: "d", Revision: 3}, mustMark(t, lease)); diff != "" {
		t.Errorf("another store: -want +got:\n%s", diff)
	}
}

func TestTheRevisionOfAMarkNeverGoesBack(t *testing.T) {
	lease := &coordinationv1.Lease{}
	setMark(lease, Position{Identity: Identity{UID: "a"}, Revision: 12})
	setMark(lease, Position{Identity: Identity{UID: "a"}, Revision: 11})
	if got := mustMark(t, lease).Revision; got != 12 {
		t.Errorf("the revision is %d", got)
	}
}

func TestLeaseWithoutAMarkKnowsNoStore(t *testing.T) {
	for _, lease := range []*coordinationv1.Lease{nil, {}} {
		if diff := cmp.Diff(Mark{}, mustMark(t, lease)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestMarkWithAnInvalidRevisionIsAnError(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{StoreLabel: "a", RevisionLabel: "many"}}}
	if mark, err := markOf(lease); err == nil {
		t.Errorf("the mark is %v", mark)
	}
}

func TestAncestorsAreEachNamedOnce(t *testing.T) {
	own := Identity{UID: "a", Ancestors: []types.UID{"z"}}
	if diff := cmp.Diff([]types.UID{"b", "a", "z"}, ancestorsOf(own, Mark{Store: "b", Ancestors: []types.UID{"a"}})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var many []types.UID
	for number := range 2 * maxAncestors {
		many = append(many, types.UID(fmt.Sprint(number)))
	}
	got := ancestorsOf(Identity{}, Mark{Store: "b", Ancestors: many})
	if len(got) != maxAncestors || got[0] != "b" {
		t.Errorf("of %d ancestors the Lease has %d, the first is %s", len(many)+1, len(got), got[0])
	}
}
