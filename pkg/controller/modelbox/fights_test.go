// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var (
	imageField    = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "image"))
	replicasField = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"))
)

// change lets somebody change the fields of the child, and returns the pause that they get, 0 where they are taken back.
func (r *fightRecord) change(child types.UID, fields *fieldpath.Set) time.Duration {
	if contested := r.weigh(child, map[string]*fieldpath.Set{"somebody": fields}); len(contested) > 0 {
		return contested[0].pause
	}
	r.restored(child, fields)
	return 0
}

func TestFights(t *testing.T) {
	const restored = 0
	// A round is somebody's change of a field, so long after the last round, and what becomes of it.
	type round struct {
		after time.Duration
		field *fieldpath.Set
		want  time.Duration
	}
	// often is a field that is changed as often as it is taken back without a pause.
	often := func(field *fieldpath.Set) []round {
		return slices.Repeat([]round{{time.Second, field, restored}}, maxRestores)
	}
	for _, row := range []struct {
		name   string
		rounds []round
	}{
		{"a field is taken back five times, and then left alone for a while",
			append(often(imageField), round{time.Second, imageField, firstPause})},
		{"each field has its own count",
			slices.Concat(often(imageField), often(replicasField), []round{{0, imageField, firstPause}})},
		{"changes that are rare are no fight",
			slices.Repeat([]round{{fightWindow / maxRestores, imageField, restored}, {time.Second, replicasField, restored}}, 3*maxRestores)},
		{"after each pause one try, and then a longer pause, up to the longest", append(often(imageField), []round{
			{0, imageField, 1 * time.Minute}, {1 * time.Minute, imageField, restored},
			{0, imageField, 2 * time.Minute}, {2 * time.Minute, imageField, restored},
			{0, imageField, 4 * time.Minute}, {4 * time.Minute, imageField, restored},
			{0, imageField, 8 * time.Minute}, {8 * time.Minute, imageField, restored},
			{0, imageField, lastPause}, {lastPause, imageField, restored},
			{0, imageField, lastPause}, {lastPause, imageField, restored},
		}...)},
		{"a fight that ended is forgotten", slices.Concat(often(imageField), []round{
			{0, imageField, firstPause}, {fightWindow + time.Second, imageField, restored},
		}, often(imageField)[1:], []round{{0, imageField, firstPause}})},
	} {
		t.Run(row.name, func(t *testing.T) {
			clock := testingclock.NewFakePassiveClock(time.Now())
			fights, live := newFightRecord(clock), liveDeployment(t)
			for i, round := range row.rounds {
				clock.SetTime(clock.Now().Add(round.after))
				if paused := fights.paused(live.UID, round.field); len(paused) > 0 && round.want == restored {
					t.Fatalf("round %d: a pause of %s goes on", i, paused[0].pause)
				}
				if got := fights.change(live.UID, round.field); got != round.want {
					t.Fatalf("round %d: got a pause of %s, want %s", i, got, round.want)
				}
			}
		})
	}
}

func TestAPauseRunsOut(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Now())
	fights := newFightRecord(clock)
	for range maxRestores + 1 {
		fights.change("child", imageField)
	}
	pause := func(child types.UID, fields *fieldpath.Set) (pause time.Duration) {
		for _, field := range fights.paused(child, fields) {
			pause += field.pause
		}
		return pause
	}
	check(t, "pause at its begin", firstPause, pause("child", imageField))
	clock.SetTime(clock.Now().Add(firstPause - time.Second))
	check(t, "pause before its end", time.Second, pause("child", imageField))
	check(t, "pause of another field", time.Duration(0), pause("child", replicasField))
	check(t, "pause of another child", time.Duration(0), pause("another", imageField))
	clock.SetTime(clock.Now().Add(time.Second))
	check(t, "pause at its end", time.Duration(0), pause("child", imageField))
}

func TestFieldsThatNobodyFightsOverAreForgotten(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Now())
	fights := newFightRecord(clock)
	for _, uid := range []types.UID{"one", "two"} {
		fights.change(uid, imageField.Union(replicasField))
	}
	clock.SetTime(clock.Now().Add(fightWindow + time.Second))
	fights.change("three", imageField)
	check(t, "fields remembered", 1, len(fights.fields))
}

func TestEachContestedFieldHasItsManager(t *testing.T) {
	fights := newFightRecord(testingclock.NewFakePassiveClock(time.Now()))
	for range maxRestores {
		fights.change("child", imageField.Union(replicasField))
	}
	contested := fights.weigh("child", map[string]*fieldpath.Set{
		"kubectl-edit": imageField,
		"helm":         replicasField,
		"":             fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "paused")),
	})
	err := &conflictError{kind: "Deployment", name: "web", fields: contested}
	const want = "Deployment web: helm keeps changing spec.replicas, kubectl-edit keeps changing spec.image; " +
		"what the box says is put back less and less often until that stops"
	check(t, "message", want, err.Error())
	check(t, "pause", firstPause, err.pause())
}

func TestSomebodyWhoInsistsGetsTheirWay(t *testing.T) {
	f := newFixture(t, webBox(t))
	clock := testingclock.NewFakePassiveClock(time.Now())
	f.fights = newFightRecord(clock)
	f.converge(t)
	for range maxRestores {
		f.scaleBySomebody(t)
		f.mustReconcile(t)
		check(t, "requests", []string{"get deployments web", "patch deployments web"}, f.requests())
	}
	f.told()

	f.scaleBySomebody(t)
	check(t, "look again after", firstPause, f.mustReconcile(t))
	check(t, "requests", []string{"get deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "applied", "False Conflict", f.status(t).applied)
	const message = "Deployment web: somebody keeps changing spec.replicas; what the box says is put back less and less often until that stops"
	check(t, "events", []string{"Warning Conflict " + message}, f.told())

	f.catchUp(t)
	f.mustReconcile(t)
	check(t, "requests in the pause", []string(nil), f.requests())

	clock.SetTime(clock.Now().Add(firstPause))
	f.mustReconcile(t)
	check(t, "requests after the pause", []string{"get deployments web", "patch deployments web", "update modelboxes/status web"}, f.requests())
	check(t, "applied", "True Applied", f.status(t).applied)
}
