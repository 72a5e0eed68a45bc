// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

var (
	imageField    = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "image"))
	replicasField = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))
)

// change lets a manager change the fields of the child. It returns the pause of the fields, 0 if they are restored.
func (r *conflictRecord) change(child types.UID, fields *fieldpath.Set) time.Duration {
	if contested := r.contested(child, map[string]*fieldpath.Set{"kubectl-edit": fields}); len(contested) > 0 {
		return contested[0].Pause
	}
	r.restored(child, fields)
	return 0
}

func TestConflicts(t *testing.T) {
	const restored = 0
	// A round is a change of a field by a manager, its time after the last round, and the outcome.
	type round struct {
		after time.Duration
		field *fieldpath.Set
		want  time.Duration
	}
	// often is a field that is changed as often as it is taken back without a pause.
	often := func(field *fieldpath.Set) []round {
		return slices.Repeat([]round{{time.Second, field, restored}}, MaxRestores)
	}
	for _, row := range []struct {
		name   string
		rounds []round
	}{
		{"a field is taken back five times, and then left alone for a while",
			append(often(imageField), round{time.Second, imageField, FirstPause})},
		{"each field has its own count",
			slices.Concat(often(imageField), often(replicasField), []round{{0, imageField, FirstPause}})},
		{"changes that are rare are no fight",
			slices.Repeat([]round{{conflictWindow / MaxRestores, imageField, restored}, {time.Second, replicasField, restored}}, 3*MaxRestores)},
		{"after each pause one try, and then a longer pause, up to the longest", append(often(imageField), []round{
			{0, imageField, 1 * time.Minute}, {1 * time.Minute, imageField, restored},
			{0, imageField, 2 * time.Minute}, {2 * time.Minute, imageField, restored},
			{0, imageField, 4 * time.Minute}, {4 * time.Minute, imageField, restored},
			{0, imageField, 8 * time.Minute}, {8 * time.Minute, imageField, restored},
			{0, imageField, lastPause}, {lastPause, imageField, restored},
			{0, imageField, lastPause}, {lastPause, imageField, restored},
		}...)},
		{"a fight that ended is forgotten", slices.Concat(often(imageField), []round{
			{0, imageField, FirstPause}, {conflictWindow + time.Second, imageField, restored},
		}, often(imageField)[1:], []round{{0, imageField, FirstPause}})},
	} {
		t.Run(row.name, func(t *testing.T) {
			clock := testingclock.NewFakePassiveClock(time.Now())
			conflicts := newConflictRecord(clock)
			for i, round := range row.rounds {
				clock.SetTime(clock.Now().Add(round.after))
				if paused := conflicts.paused("child", round.field); len(paused) > 0 && round.want == restored {
					t.Fatalf("round %d: the pause of %s has not ended", i, paused[0].Pause)
				}
				if got := conflicts.change("child", round.field); got != round.want {
					t.Fatalf("round %d: got a pause of %s, want %s", i, got, round.want)
				}
			}
		})
	}
}

func TestConflictPauseEnds(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Now())
	conflicts := newConflictRecord(clock)
	for range MaxRestores + 1 {
		conflicts.change("child", imageField)
	}
	pause := func(child types.UID, fields *fieldpath.Set) (pause time.Duration) {
		for _, field := range conflicts.paused(child, fields) {
			pause += field.Pause
		}
		return pause
	}
	fixture.Check(t, "pause at its begin", FirstPause, pause("child", imageField))
	clock.SetTime(clock.Now().Add(FirstPause - time.Second))
	fixture.Check(t, "pause before its end", time.Second, pause("child", imageField))
	fixture.Check(t, "pause of another field", time.Duration(0), pause("child", replicasField))
	fixture.Check(t, "pause of another child", time.Duration(0), pause("another", imageField))
	clock.SetTime(clock.Now().Add(time.Second))
	fixture.Check(t, "pause at its end", time.Duration(0), pause("child", imageField))
}

func TestConflictIsForgottenWhenFieldsStay(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Now())
	conflicts := newConflictRecord(clock)
	for _, uid := range []types.UID{"one", "two"} {
		conflicts.change(uid, imageField.Union(replicasField))
	}
	clock.SetTime(clock.Now().Add(conflictWindow + time.Second))
	conflicts.change("three", imageField)
	fixture.Check(t, "fields remembered", 1, len(conflicts.fields))
}

func TestConflictErrorNamesTheManagerOfEachField(t *testing.T) {
	conflicts := newConflictRecord(testingclock.NewFakePassiveClock(time.Now()))
	for range MaxRestores {
		conflicts.change("child", imageField.Union(replicasField))
	}
	contested := conflicts.contested("child", map[string]*fieldpath.Set{
		"kubectl-edit": imageField,
		"helm":         replicasField,
		"":             fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "paused")),
	})
	err := &ConflictError{Noun: "box", Kind: "Deployment", Name: "web", Fields: contested}
	const want = "Deployment web: helm keeps changing spec.replicas, kubectl-edit keeps changing spec.image; " +
		"back-off restoring what the box asks for"
	fixture.Check(t, "message", want, err.Error())
	fixture.Check(t, "pause", FirstPause, err.RetryAfter())
}
