// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// createInSteps creates a box whose rollout is in a step of two.
func createInSteps(t *testing.T, storage *testStorage, step int32, phase model.RolloutPhase, changes ...func(*model.ModelBox)) *model.ModelBox {
	t.Helper()
	changes = append([]func(*model.ModelBox){func(box *model.ModelBox) {
		box.Spec.Rollout.Type = ptr.To(model.RolloutCanary)
		box.Spec.Rollout.Steps = []model.ModelBoxRolloutStep{{Weight: 25, Pause: "Manual"}, {Weight: 50, Pause: "5m"}}
	}}, changes...)
	box := createWithRollout(t, storage, phase, changes...)
	rollout := box.Status.Rollout
	rollout.Step, rollout.Weight, rollout.NextStepAt = ptr.To(step), ptr.To[int32](25), ptr.To(metav1.Unix(50, 0))
	rollout.Candidate = &model.ModelBoxRolloutCandidate{PodsHash: "bad", Generation: 2, AvailableReplicas: 1}
	rollout.Traffic = &model.ModelBoxRolloutTraffic{Service: "Stable", StableHash: "abc", Weight: 25}
	updated, _, err := storage.Status.Update(inDefault(t), box.Name, rest.DefaultUpdatedObjectInfo(box), nil, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return updated.(*model.ModelBox)
}

func TestPromote(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		step   int32
		full   bool
		dryRun []string
		want   int32
	}{
		{name: "to the next step", step: 1, want: 2},
		{name: "from the last step", step: 2, want: 3},
		{name: "without the steps that are left", step: 1, full: true, want: 3},
		{name: "as a dry run", step: 1, dryRun: []string{metav1.DryRunAll}, want: 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := createInSteps(t, storage, row.step, model.RolloutProgressing)
			promotion, recorder := *storage.Promote, events.NewFakeRecorder(10)
			promotion.recorder = recorder
			answer, err := promotion.Create(asAnna(t), "web", &model.ModelBoxPromotion{Full: row.full}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: row.dryRun})
			if err != nil {
				t.Fatal(err)
			}
			if status := answer.(*model.ModelBoxPromotion).Status; status.Step != row.want || status.Generation != before.Generation {
				t.Errorf("the answer is %+v", status)
			}
			want, wantedEvents := before.DeepCopy(), 0
			if row.dryRun == nil {
				want.Status.Rollout.Step, want.Status.Rollout.NextStepAt = &row.want, nil
				wantedEvents = 1
			}
			if diff := cmp.Diff(want, get(t, storage), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "ManagedFields")); diff != "" {
				t.Errorf("the box, -want +got:\n%s", diff)
			}
			if len(recorder.Events) != wantedEvents {
				t.Errorf("there are %d events, want %d", len(recorder.Events), wantedEvents)
			}
		})
	}
}

func TestPromotionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		step    int32
		phase   model.RolloutPhase
		box     func(*model.ModelBox)
		message string
	}{
		{"a rollout that has failed in a step", 1, model.RolloutFailed, func(*model.ModelBox) {}, "its rollout has failed"},
		{"a rollout whose steps are over", 3, model.RolloutProgressing, func(*model.ModelBox) {}, "no more steps"},
		{"a paused box", 1, model.RolloutProgressing, func(box *model.ModelBox) { box.Spec.Paused = true }, "can't promote paused modelbox"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			createInSteps(t, storage, row.step, row.phase, row.box)
			expectConflict(t, row.message)(storage.Promote.Create(asAnna(t), "web", &model.ModelBoxPromotion{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}))
		})
	}
	t.Run("a rollout without steps", func(t *testing.T) {
		t.Parallel()
		storage := newStorage(t)
		createWithRollout(t, storage, model.RolloutProgressing)
		expectConflict(t, "not in steps")(storage.Promote.Create(asAnna(t), "web", &model.ModelBoxPromotion{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}))
	})
}

// expectConflict expects an answer to be a conflict with the words.
func expectConflict(t *testing.T, words string) func(any, error) {
	t.Helper()
	return func(_ any, err error) {
		t.Helper()
		if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %s", err, words)
		}
	}
}
