// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestBoxSurvivesLossOfStore replaces the store of a box by an empty store, and by a snapshot from before its last change.
func TestBoxSurvivesLossOfStore(t *testing.T) {
	servers, err := NewServers()
	if err != nil {
		t.Fatal(err)
	}
	act := func(name string, run func(ctx context.Context, u *users) error) Action { return Action{name, run} }
	apply := func(image string) Action {
		return act("apply "+image, func(ctx context.Context, u *users) error {
			return u.applyBox(ctx, "a", modelv1.ModelBoxSpec{Image: image})
		})
	}
	applyInSteps := func(image string) Action {
		return act("apply "+image+" in steps", func(ctx context.Context, u *users) error {
			return u.applyBox(ctx, "a", modelv1.ModelBoxSpec{
				Image: image, Ports: []corev1.ServicePort{{Port: 80}},
				Rollout: &modelv1.ModelBoxRollout{Type: ptr.To(modelv1.RolloutBlueGreen), Steps: []modelv1.ModelBoxRolloutStep{{Pause: modelv1.PauseManual}}},
			})
		})
	}
	snapshot := act("take a snapshot", func(_ context.Context, u *users) error {
		u.world.takeSnapshot()
		return nil
	})
	for _, tc := range []struct {
		name    string
		actions []Action
		replace func(ctx context.Context, w *world) error
	}{
		{"empty", []Action{apply("good:1"), wait, apply("good:2"), wait}, func(ctx context.Context, w *world) error { return w.replaceStore(ctx, nil) }},
		{"empty in steps", []Action{applyInSteps("good:1"), wait, applyInSteps("good:2"), wait}, func(ctx context.Context, w *world) error { return w.replaceStore(ctx, nil) }},
		{"behind", []Action{apply("good:1"), wait, snapshot, apply("good:2"), wait}, func(ctx context.Context, w *world) error { return w.replaceStore(ctx, w.snapshot) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after types.UID
			image := ""
			// The store is served after the first wait.
			actions := slices.Concat([]Action{wait}, tc.actions, []Action{
				act("lose the store", func(ctx context.Context, u *users) error {
					before = u.world.checks.box("a").UID
					return tc.replace(ctx, u.world)
				}), wait,
				act("read the box", func(_ context.Context, u *users) error {
					if box := u.world.checks.box("a"); box != nil {
						after, image = box.UID, box.Spec.Image
					}
					return nil
				}),
			})
			chaos := calm
			chaos.Actions = 1
			synctest.Test(t, func(t *testing.T) {
				result, err := Run(t.Context(), servers, Plan{Seed: 1, Servers: 1, LosesStores: true, Actions: actions, Chaos: chaos}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(result.Violations) > 0 {
					t.Error(result.Violations)
				}
			})
			if before != after || image != "good:2" {
				t.Errorf("box %s is %s with image %q after the loss", before, after, image)
			}
		})
	}
}
