// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"context"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/universe/cluster"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestRolloutFollowsItsChecks rolls out an image without errors, and one with errors.
func TestRolloutFollowsItsChecks(t *testing.T) {
	servers, err := NewServers()
	if err != nil {
		t.Fatal(err)
	}
	const measurements = 3
	canary := &modelv1.ModelBoxRollout{Type: ptr.To(modelv1.RolloutCanary), Steps: []modelv1.ModelBoxRolloutStep{{Weight: 50}}}
	port := []corev1.ServicePort{{Port: 80}}
	for _, tc := range []struct {
		name string
		box  modelv1.ModelBoxSpec // with two replicas, unless it says otherwise
	}{
		{"canary", modelv1.ModelBoxSpec{Rollout: canary}},
		{"canary with a route", modelv1.ModelBoxSpec{Rollout: canary, Ports: port, Route: newRoute()}},
		{"blue-green", modelv1.ModelBoxSpec{Rollout: &modelv1.ModelBoxRollout{Type: ptr.To(modelv1.RolloutBlueGreen)}, Ports: port}},
		{"StatefulSet", modelv1.ModelBoxSpec{Rollout: canary, Workload: modelv1.WorkloadStatefulSet}},
		{"StatefulSet with one pod", modelv1.ModelBoxSpec{Rollout: canary, Workload: modelv1.WorkloadStatefulSet, Replicas: ptr.To(int32(1))}},
		{"DaemonSet", modelv1.ModelBoxSpec{Rollout: canary, Workload: modelv1.WorkloadDaemonSet}},
	} {
		for image, want := range map[string]modelv1.RolloutPhase{"good:2": modelv1.RolloutComplete, cluster.ErringImage + ":2": modelv1.RolloutRolledBack} {
			t.Run(tc.name+"/"+image, func(t *testing.T) {
				box := tc.box
				if box.Workload != modelv1.WorkloadDaemonSet && box.Replicas == nil {
					box.Replicas = ptr.To(int32(2))
				}
				rollout := *box.Rollout
				rollout.OnFailure, rollout.Checks = modelv1.RolloutFailureRollback, []modelv1.ModelBoxRolloutCheck{errorsCheck("10s", measurements)}
				box.Rollout = &rollout
				apply := func(image string) Action {
					return Action{"apply " + image, func(ctx context.Context, u *users) error {
						box.Image = image
						return u.applyBox(ctx, "a", box)
					}}
				}
				var phase model.RolloutPhase
				measured := 0
				read := Action{"read the box", func(_ context.Context, u *users) error {
					phase, measured = u.world.checks.box("a").Status.Rollout.Phase, u.world.prometheus.MeasurementsWithoutErrors("a")
					return nil
				}}
				chaos := calm
				chaos.Actions = 1
				synctest.Test(t, func(t *testing.T) {
					result, err := Run(t.Context(), servers, Plan{Seed: 1, Servers: 1, Actions: []Action{apply("good:1"), wait, apply(image), wait, read}, Chaos: chaos}, nil)
					if err != nil {
						t.Fatal(err)
					}
					if len(result.Violations) > 0 {
						t.Error(result.Violations)
					}
				})
				if modelv1.RolloutPhase(phase) != want || want == modelv1.RolloutComplete && measured < measurements {
					t.Errorf("the rollout is %s after %d measurements without errors, want %s", phase, measured, want)
				}
			})
		}
	}
}
