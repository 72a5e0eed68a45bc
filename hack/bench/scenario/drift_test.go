// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
)

func TestDeploymentsAreRestored(t *testing.T) {
	deployment := func(uid types.UID, generation int64, image string) *appsv1.Deployment {
		d := &appsv1.Deployment{}
		d.UID, d.Generation = uid, generation
		d.Spec.Template.Spec.Containers = []corev1.Container{{Image: image}}
		return d
	}
	before := deployment("one", 3, "web:1")
	for _, row := range []struct {
		name        string
		disturbance disturbance
		now         *appsv1.Deployment
		want        bool
	}{
		{"it is being deleted", deletion, before, false},
		{"it is there again", deletion, deployment("two", 1, "web:1"), true},
		{"its status has changed before it is edited", edit, before, false},
		{"it is edited", edit, deployment("one", 4, "web:edited"), false},
		{"it is as it was", edit, deployment("one", 5, "web:1"), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.disturbance.isUndone(before, row.now); got != row.want {
				t.Errorf("got %t, want %t", got, row.want)
			}
		})
	}
}

func TestEachRoundDisturbsOthers(t *testing.T) {
	for size, want := range map[int]int{driftScenario.Size: 80, driftScenario.FullSize: driftedAtOnce} {
		d := &drifting{Run: &runner.Run{Rounds: 5, Size: size}}
		disturbed := sets.New[string]()
		for round := range d.Rounds {
			disturbed.Insert(d.chosen(round)...)
		}
		if got := disturbed.Len(); got != d.Rounds*want {
			t.Errorf("of %d Deployments %d are disturbed in %d rounds, want %d in each", size, got, d.Rounds, want)
		}
	}
}
