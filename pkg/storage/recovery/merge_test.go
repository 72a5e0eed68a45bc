// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestMerge(t *testing.T) {
	at := func(seconds int64) metav1.Time { return metav1.NewTime(time.Unix(seconds, 0)) }
	record := func(uid types.UID, generation, created int64) *modelv1.ModelBox {
		return &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{UID: uid, Generation: generation, CreationTimestamp: at(created)}}
	}
	stored := func(uid types.UID, generation, created int64) *summary {
		return &summary{UID: uid, Generation: generation, Created: at(created)}
	}
	deleted := stored("a", 1, 1)
	deleted.IsDeleted = true
	for _, row := range []struct {
		name      string
		situation Situation
		stored    *summary
		record    *modelv1.ModelBox
		want      action
	}{
		{"a box that is missing", Empty, nil, record("a", 1, 1), create},
		{"a later generation is recorded", Behind, stored("a", 1, 1), record("a", 2, 1), update},
		{"the same generation, whose labels may differ", Behind, stored("a", 2, 1), record("a", 2, 1), update},
		{"the store is newer", Behind, stored("a", 3, 1), record("a", 2, 1), keep},
		{"the store is newer, and foreign", Foreign, stored("a", 3, 1), record("a", 2, 1), keep},
		{"a box whose deletion has begun", Behind, deleted, record("a", 2, 1), keep},
		{"a box that was deleted and created again since", Behind, stored("a", 5, 1), record("b", 1, 2), replace},
		{"the same within a second", Behind, stored("a", 5, 1), record("b", 1, 1), replace},
		{"a Deployment of a box that was deleted before", Behind, stored("b", 1, 2), record("a", 1, 1), keep},
		{"a stranger of the same name", Foreign, stored("x", 1, 2), record("a", 1, 1), replace},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := merge(row.situation, row.stored, row.record); got != row.want {
				t.Errorf("the box is %s, want %s", got, row.want)
			}
		})
	}
}

func TestWasDeleted(t *testing.T) {
	for _, row := range []struct {
		name        string
		situation   Situation
		isApplied   bool
		hasChildren bool
		want        bool
	}{
		{"it had children and has none", Behind, true, false, true},
		{"it has children", Behind, true, true, false},
		{"it never had all of its children", Behind, false, false, false},
		{"a foreign store", Foreign, true, false, false},
		{"it was recovered before", Empty, true, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := wasDeleted(row.situation, summary{IsApplied: row.isApplied}, row.hasChildren); got != row.want {
				t.Errorf("got %t, want %t", got, row.want)
			}
		})
	}
}
