// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

const (
	restartedAt   = "2026-01-02T03:04:05Z"
	restartedPath = "f:kubectl.kubernetes.io/restartedAt"
)

// newRestart returns the restart subresource at a fixed time, and the events that it records.
func newRestart(t *testing.T, storage *testStorage, admit admission.Interface) (*RestartREST, chan string) {
	t.Helper()
	restart := *storage.Restart
	boxes := *restart.Objects
	boxes.Admission = admit
	recorder := events.NewFakeRecorder(10)
	now, err := time.Parse(time.RFC3339, restartedAt)
	if err != nil {
		t.Fatal(err)
	}
	return newRestartREST(&boxes, recorder, clocktesting.NewFakePassiveClock(now.Add(time.Millisecond))), recorder.Events
}

// asAnna is a request of anna's for the subresource of the box.
func asAnna(t *testing.T) context.Context {
	ctx := genericapirequest.WithUser(inDefault(t), &user.DefaultInfo{Name: "anna"})
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{Verb: "create", Resource: "modelboxes", Subresource: "restart", Name: "web"})
}

func TestRestart(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	before := create(t, storage, newBox(func(box *model.ModelBox) {
		box.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "model.github.com/v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:image":{}}}`),
		}}
	}))
	seen := &seenUpdates{Handler: admission.NewHandler(admission.Update)}
	restart, recorded := newRestart(t, storage, seen)
	answer, err := restart.Create(asAnna(t), "web", &model.ModelBoxRestart{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{FieldManager: "anna's"})
	if err != nil {
		t.Fatal(err)
	}
	after := get(t, storage)
	want := before.DeepCopy()
	want.Generation = 2
	want.Annotations = map[string]string{modelv1.ChangedByAnnotation: "anna"}
	want.Spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{modelv1.RestartedAtAnnotation: restartedAt}}}
	if diff := cmp.Diff(want, after, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "ManagedFields")); diff != "" {
		t.Errorf("the box, -want +got:\n%s", diff)
	}
	if !slices.ContainsFunc(after.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "anna's" && entry.Subresource == "restart" && strings.Contains(entry.FieldsV1.GetRawString(), restartedPath)
	}) {
		t.Errorf("managed fields: %v", after.ManagedFields)
	}
	got := answer.(*model.ModelBoxRestart)
	if got.Name != "web" || got.UID != before.UID || got.Status.Generation != 2 || got.Status.RestartedAt.UTC().Format(time.RFC3339) != restartedAt {
		t.Errorf("the answer is %+v", got)
	}
	if diff := cmp.Diff([]string{"anna mutates modelboxes web", "anna validates modelboxes web"}, seen.texts); diff != "" {
		t.Errorf("admission, -want +got:\n%s", diff)
	}
	if event := <-recorded; event != `Normal Restarted User "anna" restarted the box` {
		t.Errorf("the event is %q", event)
	}
}

func TestRestartThatIsTried(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	before := create(t, storage, newBox())
	restart, recorded := newRestart(t, storage, nil)
	answer, err := restart.Create(asAnna(t), "web", &model.ModelBoxRestart{}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || answer.(*model.ModelBoxRestart).Status.Generation != 2 {
		t.Errorf("got %v, %v", answer, err)
	}
	if diff := cmp.Diff(before, get(t, storage)); diff != "" {
		t.Errorf("the box, -before +after:\n%s", diff)
	}
	if len(recorded) > 0 {
		t.Errorf("there is an event: %s", <-recorded)
	}
}

func TestRestartsThatAreRefused(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, runtime.Object) error {
		return apierrors.NewForbidden(model.Resource("modelboxes/restart"), "web", errors.New("by admission"))
	}
	for _, row := range []struct {
		name     string
		box      func(*model.ModelBox)
		sent     runtime.Object
		validate rest.ValidateObjectFunc
		admit    admission.Interface
		is       func(error) bool
		message  string
	}{
		{"a paused box", func(box *model.ModelBox) { box.Spec.Paused = true }, &model.ModelBoxRestart{}, nil, nil, apierrors.IsConflict, "can't restart paused modelbox (set spec.paused to false first)"},
		{"a second time in a second", func(box *model.ModelBox) {
			box.Spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{modelv1.RestartedAtAnnotation: restartedAt}}}
		}, &model.ModelBoxRestart{}, nil, nil, apierrors.IsConflict, "within the past second"},
		{"a box that is not there", named("mail"), &model.ModelBoxRestart{}, nil, nil, apierrors.IsNotFound, `"web" not found`},
		{"another name", func(*model.ModelBox) {}, &model.ModelBoxRestart{ObjectMeta: metav1.ObjectMeta{Name: "mail"}}, nil, nil, apierrors.IsBadRequest, "does not match the name on the URL"},
		{"no restart", func(*model.ModelBox) {}, &model.ModelBox{}, nil, nil, apierrors.IsBadRequest, "expected a ModelBoxRestart"},
		{"admission refuses the restart", func(*model.ModelBox) {}, &model.ModelBoxRestart{}, refuse, nil, apierrors.IsForbidden, "by admission"},
		{"admission refuses the update", func(*model.ModelBox) {}, &model.ModelBoxRestart{}, nil,
			&seenUpdates{Handler: admission.NewHandler(admission.Update), err: apierrors.NewForbidden(model.Resource("modelboxes"), "web", errors.New("no updates"))},
			apierrors.IsForbidden, "no updates"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := create(t, storage, newBox(row.box))
			restart, recorded := newRestart(t, storage, row.admit)
			_, err := restart.Create(asAnna(t), "web", row.sent, row.validate, &metav1.CreateOptions{})
			if err == nil || !row.is(err) || !strings.Contains(err.Error(), row.message) {
				t.Errorf("got %v, want %s", err, row.message)
			}
			obj, err := storage.ModelBox.Get(inDefault(t), before.Name, &metav1.GetOptions{})
			if err != nil || obj.(*model.ModelBox).ResourceVersion != before.ResourceVersion {
				t.Errorf("the box is now %v, %v", obj, err)
			}
			if len(recorded) > 0 {
				t.Errorf("there is an event: %s", <-recorded)
			}
		})
	}
}

// seenUpdates is admission that sees updates of boxes.
type seenUpdates struct {
	*admission.Handler
	texts []string
	err   error
}

func (s *seenUpdates) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	s.see("mutates", a)
	return nil
}

func (s *seenUpdates) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	s.see("validates", a)
	return s.err
}

func (s *seenUpdates) see(what string, a admission.Attributes) {
	box, old := a.GetObject().(*model.ModelBox), a.GetOldObject().(*model.ModelBox)
	if box.Spec.PodTemplate == nil || old.Spec.PodTemplate != nil {
		what += " nothing of"
	}
	resource := a.GetResource().Resource
	if a.GetSubresource() != "" {
		resource += "/" + a.GetSubresource()
	}
	s.texts = append(s.texts, a.GetUserInfo().GetName()+" "+what+" "+resource+" "+a.GetName())
}
