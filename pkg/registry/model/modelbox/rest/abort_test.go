// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

func TestAbort(t *testing.T) {
	t.Parallel()
	for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
		storage := newStorage(t)
		before := createInSteps(t, storage, 1, model.RolloutProgressing)
		abort, recorder := *storage.Abort, events.NewFakeRecorder(10)
		abort.recorder = recorder
		answer, err := abort.Create(asAnna(t), "web", &model.ModelBoxAbort{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: dryRun})
		if err != nil {
			t.Fatal(err)
		}
		if status := answer.(*model.ModelBoxAbort).Status; status.StableGeneration != 1 || status.Generation != before.Generation {
			t.Errorf("the answer is %+v", status)
		}
		want, wantedEvents := before.DeepCopy(), 0
		if dryRun == nil { // The candidate and its traffic stay until the controller has taken them away.
			rollout := want.Status.Rollout
			rollout.Phase, rollout.Reason, rollout.Message = model.RolloutRolledBack, "Aborted", `user "anna" aborted it`
			rollout.Step, rollout.Weight, rollout.NextStepAt = nil, nil, nil
			rollout.FailedRevisions = []model.ModelBoxFailedRevision{{PodsHash: "bad", Generation: before.Generation, Reason: "Aborted"}}
			wantedEvents = 1
		}
		if diff := cmp.Diff(want, get(t, storage), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "ManagedFields")); diff != "" {
			t.Errorf("the box, -want +got:\n%s", diff)
		}
		if len(recorder.Events) != wantedEvents {
			t.Errorf("there are %d events, want %d", len(recorder.Events), wantedEvents)
		}
	}
}

// TestRetryAfterAbort begins with the first step again.
func TestRetryAfterAbort(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	createInSteps(t, storage, 2, model.RolloutProgressing)
	if _, err := storage.Abort.Create(asAnna(t), "web", &model.ModelBoxAbort{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The controller waits for the traffic to move before it takes the candidate away.
	aborted := get(t, storage)
	aborted.Status.Rollout.NextStepAt = ptr.To(metav1.Unix(60, 0))
	if _, _, err := storage.Status.Update(inDefault(t), "web", rest.DefaultUpdatedObjectInfo(aborted), nil, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Retry.Create(asAnna(t), "web", &model.ModelBoxRetry{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if rollout := get(t, storage).Status.Rollout; rollout.Phase != model.RolloutProgressing || rollout.Step != nil || rollout.NextStepAt != nil || rollout.Candidate == nil {
		t.Errorf("the rollout is %+v", rollout)
	}
}

func TestAbortsThatAreRefused(t *testing.T) {
	t.Parallel()
	unchanged := func(*model.ModelBox) {}
	for _, row := range []struct {
		name    string
		phase   model.RolloutPhase
		box     func(*model.ModelBox)
		message string
	}{
		{"a rollout that is complete", model.RolloutComplete, unchanged, "no rollout in progress"},
		{"a rollout that is rolled back", model.RolloutRolledBack, unchanged, "rolled back already"},
		{"a box without a stable record", model.RolloutProgressing, func(box *model.ModelBox) { box.Spec.Rollout.OnFailure = model.RolloutFailureNone }, "set spec.rollout.onFailure to Rollback"},
		{"a paused box", model.RolloutProgressing, func(box *model.ModelBox) { box.Spec.Paused = true }, "can't abort paused modelbox"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			createWithRollout(t, storage, row.phase, row.box)
			expectConflict(t, row.message)(storage.Abort.Create(asAnna(t), "web", &model.ModelBoxAbort{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}))
		})
	}
}
