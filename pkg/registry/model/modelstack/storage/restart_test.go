// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestRestart(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	stack := shop()
	stack.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "model.github.com/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:rollout":{}}}`),
	}}
	create(t, storage, stack)
	for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
		answer, err := storage.Restart.Create(inDefault(t), "shop", &model.ModelBoxRestart{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: dryRun})
		if err != nil {
			t.Fatal(err)
		}
		status := answer.(*model.ModelBoxRestart).Status
		if status.Generation != 2 {
			t.Errorf("got generation %d, want 2", status.Generation)
		}
		obj, err := storage.ModelStack.Get(inDefault(t), "shop", &metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		stack, want := obj.(*model.ModelStack), status.RestartedAt.UTC().Format("2006-01-02T15:04:05Z")
		if dryRun != nil {
			want = ""
		}
		for _, component := range stack.Spec.Components[:2] {
			got := ""
			if component.Box.PodTemplate != nil {
				got = component.Box.PodTemplate.Annotations[modelv1.RestartedAtAnnotation]
			}
			if got != want {
				t.Errorf("with dryRun=%v, component %s was restarted at %q, want %q", dryRun, component.Name, got, want)
			}
		}
		var managers []string
		for _, entry := range stack.ManagedFields {
			managers = append(managers, entry.Manager)
		}
		if slices.Contains(managers, "modelstack-restart") != (dryRun == nil) {
			t.Errorf("with dryRun=%v, the managers are %q", dryRun, managers)
		}
	}
}

func TestRestartThatIsRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(*model.ModelStack)
		want   string
	}{
		{"paused", func(stack *model.ModelStack) { stack.Spec.Paused = true }, "can't restart paused modelstack"},
		{"being deleted", func(stack *model.ModelStack) { stack.DeletionTimestamp = &metav1.Time{} }, "it is being deleted"},
		{"without boxes", func(stack *model.ModelStack) { stack.Spec.Components = stack.Spec.Components[2:] }, "all its components are external"},
	} {
		stack := shop()
		row.change(stack)
		if err := restart(stack, "2026-01-02T03:04:05Z"); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
	stack := shop()
	if err := restart(stack, "2026-01-02T03:04:05Z"); err != nil {
		t.Fatal(err)
	}
	if err := restart(stack, "2026-01-02T03:04:05Z"); err == nil {
		t.Error("twice in a second: it is not refused")
	}
	storage := newStorage(t)
	paused := shop()
	paused.Spec.Paused = true
	create(t, storage, paused)
	if _, err := storage.Restart.Create(inDefault(t), "shop", &model.ModelBoxRestart{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want 409", err)
	}
}
