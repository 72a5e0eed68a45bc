// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// createWithRollout creates a box with that status of its rollout.
func createWithRollout(t *testing.T, storage *testStorage, phase model.RolloutPhase, changes ...func(*model.ModelBox)) *model.ModelBox {
	t.Helper()
	box := create(t, storage, newBox(append([]func(*model.ModelBox){func(box *model.ModelBox) {
		box.Spec.Rollout = &model.ModelBoxRollout{OnFailure: model.RolloutFailureRollback, MaxRestarts: ptr.To[int32](3)}
	}}, changes...)...))
	box.Status.Rollout = &model.ModelBoxRolloutStatus{
		Phase: phase, PodsHash: "bad", Reason: "ImagePullBackOff", Message: "no image", StartedAt: metav1.Unix(1, 0),
		Stable: &model.ModelBoxRolloutRevision{PodsHash: "good", Generation: 1},
	}
	updated, _, err := storage.Status.Update(inDefault(t), box.Name, rest.DefaultUpdatedObjectInfo(box), nil, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return updated.(*model.ModelBox)
}

func TestRetry(t *testing.T) {
	t.Parallel()
	for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
		storage := newStorage(t)
		before := createWithRollout(t, storage, model.RolloutRolledBack)
		retry, recorder := *storage.Retry, events.NewFakeRecorder(10)
		now := time.Unix(100, 0).UTC()
		retry.recorder, retry.clock = recorder, clocktesting.NewFakePassiveClock(now.Add(time.Millisecond))
		answer, err := retry.Create(asAnna(t), "web", &model.ModelBoxRetry{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: dryRun})
		if err != nil {
			t.Fatal(err)
		}
		if status := answer.(*model.ModelBoxRetry).Status; !status.StartedAt.Equal(ptr.To(metav1.NewTime(now))) || status.Generation != before.Generation {
			t.Errorf("the answer is %+v", status)
		}
		want, wantedEvents := before.DeepCopy(), 0
		if dryRun == nil {
			rollout := want.Status.Rollout
			rollout.Phase, rollout.StartedAt, rollout.Reason, rollout.Message = model.RolloutProgressing, metav1.NewTime(now), "", ""
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

func TestRetriesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		phase   model.RolloutPhase
		box     func(*model.ModelBox)
		message string
	}{
		{"a rollout that is complete", model.RolloutComplete, func(*model.ModelBox) {}, "its rollout has not failed"},
		{"a rollout in progress", model.RolloutProgressing, func(*model.ModelBox) {}, "its rollout has not failed"},
		{"a paused box", model.RolloutFailed, func(box *model.ModelBox) { box.Spec.Paused = true }, "can't retry paused modelbox"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			createWithRollout(t, storage, row.phase, row.box)
			_, err := storage.Retry.Create(asAnna(t), "web", &model.ModelBoxRetry{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), row.message) {
				t.Errorf("got %v, want %s", err, row.message)
			}
		})
	}
}
