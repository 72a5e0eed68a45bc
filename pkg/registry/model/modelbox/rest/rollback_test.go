// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// newRollback returns the rollback subresource in a cluster with the revisions, and the events that it records.
func newRollback(storage *testStorage, admit admission.Interface, revisions ...modelboxrender.Revision) (*RollbackREST, chan string) {
	rollback := *storage.Rollback
	boxes := *rollback.boxes
	boxes.Admission = admit
	recorder := events.NewFakeRecorder(10)
	rollback.boxes, rollback.children, rollback.recorder = &boxes, &testCluster{revisions: revisions}, recorder
	return &rollback, recorder.Events
}

func withReplicas(replicas int32) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Replicas = ptr.To(replicas) }
}

func TestRollback(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		toRevision int64
		options    metav1.CreateOptions
		want       model.ModelBoxRollbackStatus
		image      string
		note       map[string]string
	}{
		{"to the one before", 0, metav1.CreateOptions{FieldManager: "anna's"}, model.ModelBoxRollbackStatus{Revision: 2, Generation: 2}, "nginx:2", map[string]string{modelv1.ChangeCauseAnnotation: "second", modelv1.ChangedByAnnotation: "anna"}},
		{"to a revision", 1, metav1.CreateOptions{FieldManager: "anna's"}, model.ModelBoxRollbackStatus{Revision: 1, Generation: 2}, "nginx:1", map[string]string{modelv1.ChangedByAnnotation: "anna"}},
		{"that is tried", 1, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, model.ModelBoxRollbackStatus{Revision: 1, Generation: 2}, "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := create(t, storage, newBox(withImage("nginx:3"), withReplicas(7), because("third"), func(box *model.ModelBox) {
				box.ManagedFields = []metav1.ManagedFieldsEntry{{
					Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "model.github.com/v1",
					FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:image":{}}}`),
				}}
			}))
			seen := &seenUpdates{Handler: admission.NewHandler(admission.Update)}
			// Another release may have rendered them in another way: what counts is the record.
			first := revisionOf(t, before, 1, withImage("nginx:1"), withReplicas(2), withoutCause)
			first.Annotations[modelv1.RenderHashAnnotation] = "other"
			rollback, recorded := newRollback(storage, seen, first,
				revisionOf(t, before, 2, withImage("nginx:2"), withReplicas(2), because("second")), revisionOf(t, before, 3))
			warnings := &recordedWarnings{}
			answer, err := rollback.Create(warning.WithWarningRecorder(asAnna(t), warnings), "web", &model.ModelBoxRollback{ToRevision: row.toRevision}, rest.ValidateAllObjectFunc, &row.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, answer.(*model.ModelBoxRollback).Status); diff != "" {
				t.Errorf("the answer, -want +got:\n%s", diff)
			}
			after := get(t, storage)
			if row.image == "" {
				if diff := cmp.Diff(before, after); diff != "" || len(recorded) > 0 {
					t.Errorf("the box, -before +after, and %d events:\n%s", len(recorded), diff)
				}
				return
			}
			want := before.DeepCopy()
			want.Generation, want.Spec.Image, want.Annotations = 2, row.image, row.note
			if diff := cmp.Diff(want, after, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion", "ManagedFields"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the box, -want +got:\n%s", diff)
			}
			if !slices.ContainsFunc(after.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
				return entry.Manager == "anna's" && entry.Subresource == "rollback" && strings.Contains(entry.FieldsV1.GetRawString(), "f:image")
			}) {
				t.Errorf("managed fields: %v", after.ManagedFields)
			}
			if diff := cmp.Diff([]string{"anna mutates nothing of modelboxes web", "anna validates nothing of modelboxes web"}, seen.texts); diff != "" {
				t.Errorf("admission, -want +got:\n%s", diff)
			}
			if event, want := <-recorded, `Normal RolledBack User "anna" rolled the box back to revision `+string(rune('0'+row.want.Revision)); event != want {
				t.Errorf("the event is %q, want %q", event, want)
			}
		})
	}
}

func withoutCause(box *model.ModelBox) { box.Annotations = nil }

func TestRollbacksThatAreRefused(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, runtime.Object) error {
		return apierrors.NewForbidden(model.Resource("modelboxes/rollback"), "web", errors.New("by admission"))
	}
	unchanged := func(*model.ModelBox) {}
	first, second := withImage("nginx:1"), withImage("nginx:2")
	to := func(revision int64) *model.ModelBoxRollback { return &model.ModelBoxRollback{ToRevision: revision} }
	for _, row := range []struct {
		name      string
		box       func(*model.ModelBox)
		revisions []func(*model.ModelBox)
		sent      runtime.Object
		validate  rest.ValidateObjectFunc
		admit     admission.Interface
		is        func(error) bool
		message   string
	}{
		{"a revision that is gone", second, []func(*model.ModelBox){first, second}, to(7), nil, nil, apierrors.IsInvalid, `toRevision: Unsupported value: 7: supported values: "1", "2"`},
		{"a negative one", second, []func(*model.ModelBox){first, second}, to(-1), nil, nil, apierrors.IsInvalid, `toRevision: Unsupported value: -1: supported values: "1", "2"`},
		{"the present one", second, []func(*model.ModelBox){first, second}, to(2), nil, nil, apierrors.IsConflict, "skipped rollback (current template already matches revision 2)"},
		{"the first one", first, []func(*model.ModelBox){first}, to(0), nil, nil, apierrors.IsConflict, "no last revision to roll back to"},
		{"one whose spec is not known", second, []func(*model.ModelBox){func(box *model.ModelBox) { box.UID = "other" }, second}, to(0), nil, nil, apierrors.IsConflict, "can't roll back to revision 1: its spec is not known: another box was recorded"},
		{"one that is invalid now", second, []func(*model.ModelBox){func(box *model.ModelBox) { box.Spec.Image = "" }, second}, to(0), nil, nil, apierrors.IsInvalid, "spec.image: Required value"},
		{"a paused box", paused, []func(*model.ModelBox){first, second}, to(0), nil, nil, apierrors.IsConflict, "cannot roll back a paused modelbox (set spec.paused to false first)"},
		{"a box that is not there", named("mail"), nil, to(0), nil, nil, apierrors.IsNotFound, `"web" not found`},
		{"another name", unchanged, nil, &model.ModelBoxRollback{ObjectMeta: metav1.ObjectMeta{Name: "mail"}}, nil, nil, apierrors.IsBadRequest, "does not match the name on the URL"},
		{"no rollback", unchanged, nil, &model.ModelBox{}, nil, nil, apierrors.IsBadRequest, "expected a ModelBoxRollback"},
		{"admission refuses the rollback", second, []func(*model.ModelBox){first, second}, to(0), refuse, nil, apierrors.IsForbidden, "by admission"},
		{"admission refuses the update", second, []func(*model.ModelBox){first, second}, to(0), nil,
			&seenUpdates{Handler: admission.NewHandler(admission.Update), err: apierrors.NewForbidden(model.Resource("modelboxes"), "web", errors.New("no updates"))},
			apierrors.IsForbidden, "no updates"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := create(t, storage, newBox(row.box))
			var revisions []modelboxrender.Revision
			for i, change := range row.revisions {
				revisions = append(revisions, revisionOf(t, before, int64(i+1), change))
			}
			rollback, recorded := newRollback(storage, row.admit, revisions...)
			_, err := rollback.Create(asAnna(t), "web", row.sent, row.validate, &metav1.CreateOptions{})
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

func TestRollbackToTheNewestRevisionThatDiffers(t *testing.T) {
	t.Parallel()
	unknown := func(box *model.ModelBox) { box.UID = "other" }
	for _, row := range []struct {
		name      string
		box       func(*model.ModelBox)
		revisions []func(*model.ModelBox)
		want      int64
		message   string
	}{
		{"the box is rolled out", withImage("nginx:2"), []func(*model.ModelBox){withImage("nginx:1"), withImage("nginx:2")}, 1, ""},
		{"the box was never rolled out", withImage("nginx:3"), []func(*model.ModelBox){withImage("nginx:1"), withImage("nginx:2")}, 2, ""},
		{"the box was never rolled out, and there is one revision", withImage("nginx:2"), []func(*model.ModelBox){withImage("nginx:1")}, 1, ""},
		{"the box is what an earlier one was", withImage("nginx:1"), []func(*model.ModelBox){withImage("nginx:1"), withImage("nginx:2")}, 2, ""},
		{"replicas are no matter of a revision", withReplicas(5), []func(*model.ModelBox){withImage("nginx:1"), withReplicas(2)}, 1, ""},
		{"the spec of the newest one is not known", withImage("nginx:3"), []func(*model.ModelBox){withImage("nginx:1"), unknown}, 0, "can't roll back to revision 2: its spec is not known"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := create(t, storage, newBox(row.box))
			var revisions []modelboxrender.Revision
			for i, change := range row.revisions {
				revisions = append(revisions, revisionOf(t, before, int64(i+1), change))
			}
			rollback, _ := newRollback(storage, nil, revisions...)
			answer, err := rollback.Create(asAnna(t), "web", &model.ModelBoxRollback{}, nil, &metav1.CreateOptions{})
			if row.message != "" {
				if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), row.message) {
					t.Errorf("got %v, want %s", err, row.message)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := answer.(*model.ModelBoxRollback).Status.Revision; got != row.want {
				t.Errorf("rolled back to revision %d, want %d", got, row.want)
			}
		})
	}
}

func TestRollbackAcrossAnUnknownRevisionOfTheSamePods(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	before := create(t, storage, newBox())
	unrecorded := revisionOf(t, before, 2)
	delete(unrecorded.Annotations, modelv1.RecordAnnotation)
	rollback, _ := newRollback(storage, nil, revisionOf(t, before, 1, withImage("nginx:1")), unrecorded)
	answer, err := rollback.Create(asAnna(t), "web", &model.ModelBoxRollback{}, nil, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.(*model.ModelBoxRollback).Status.Revision; got != 1 {
		t.Errorf("rolled back to revision %d, want 1", got)
	}
}

func TestRollbackKeepsStorageThatGrew(t *testing.T) {
	t.Parallel()
	data := func(size string) func(*model.ModelBox) {
		return func(box *model.ModelBox) {
			box.Spec.Image, box.Spec.Workload = "mysql:"+size, model.WorkloadStatefulSet
			box.Spec.Storage = []model.ModelBoxStorage{{
				Name: "data", MountPath: "/var/lib/data", RequestedSize: resource.MustParse(size),
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Retain: ptr.To(true),
			}}
		}
	}
	for _, row := range []struct {
		name           string
		present, then  string
		claim          string
		want           string
		wantOfWarnings string
	}{
		{"it is larger now", "20Gi", "10Gi", "20Gi", "20Gi", "spec.storage[0].size: stays 20Gi and does not become 10Gi: a volume cannot shrink"},
		{"it was larger then", "10Gi", "20Gi", "10Gi", "20Gi", ""},
		{"its claim never grew", "20Gi", "10Gi", "10Gi", "10Gi", ""},
		{"its claim grew to another size", "20Gi", "10Gi", "15Gi", "15Gi", "spec.storage[0].size: becomes 15Gi and not 10Gi: a volume cannot shrink"},
		{"its claim has more than was asked for", "20Gi", "10Gi", "50Gi", "20Gi", "spec.storage[0].size: stays 20Gi and does not become 10Gi: a volume cannot shrink"},
		{"it has no claim", "20Gi", "10Gi", "", "10Gi", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := create(t, storage, newBox(data(row.present)))
			rollback, _ := newRollback(storage, nil, revisionOf(t, before, 1, data(row.then)), revisionOf(t, before, 2))
			if row.claim != "" {
				rollback.children.(*testCluster).claims = map[string]resource.Quantity{"data": resource.MustParse(row.claim)}
			}
			warnings := &recordedWarnings{}
			if _, err := rollback.Create(warning.WithWarningRecorder(asAnna(t), warnings), "web", &model.ModelBoxRollback{}, nil, &metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			after := get(t, storage)
			if got := after.Spec.Storage[0].RequestedSize.String(); got != row.want || after.Spec.Image != "mysql:"+row.then {
				t.Errorf("the box has %s with %s of storage, want mysql:%s with %s", after.Spec.Image, got, row.then, row.want)
			}
			isWarning := func(text string) bool { return strings.Contains(text, "cannot shrink") }
			if i := slices.IndexFunc(warnings.texts, isWarning); (i >= 0) != (row.wantOfWarnings != "") || i >= 0 && warnings.texts[i] != row.wantOfWarnings {
				t.Errorf("got the warnings %q, want %q", warnings.texts, row.wantOfWarnings)
			}
		})
	}
}

func TestRollbackToEditedRecords(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		edit    func(*modelv1.ModelBox)
		is      func(error) bool
		message string
	}{
		{"not defaulted", emptyAndPaused, apierrors.IsConflict, "can't roll back to revision 1: its spec is not known: the box was changed while it was paused"},
		{"invalid", func(box *modelv1.ModelBox) { ingressWithoutPorts(box); box.Spec.Paused = false }, apierrors.IsInvalid, "spec.ingress"},
		{"of many containers", manyContainers, apierrors.IsConflict, "can't roll back to revision 1: its spec is not known: decoding the object of a record: spec.containers"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			box := create(t, storage, newBox())
			rollback, _ := newRollback(storage, nil, withRecord(t, revisionOf(t, box, 1), box, row.edit), revisionOf(t, box, 2))
			if _, err := rollback.Create(asAnna(t), "web", &model.ModelBoxRollback{ToRevision: 1}, nil, &metav1.CreateOptions{}); err == nil || !row.is(err) || !strings.Contains(err.Error(), row.message) {
				t.Errorf("got %v, want %s", err, row.message)
			}
		})
	}
}

func TestRollbackWithoutAnAnswerOfTheCluster(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	rollback, _ := newRollback(storage, nil)
	rollback.children = &testCluster{err: errors.New("it is unavailable")}
	_, err := rollback.Create(asAnna(t), "web", &model.ModelBoxRollback{}, nil, &metav1.CreateOptions{})
	if !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "it is unavailable") {
		t.Errorf("got %v", err)
	}
}

// allowsPromotions lets anna promote rollouts, and allows no other request.
type allowsPromotions struct{}

func (allowsPromotions) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetUser().GetName() == "anna" && a.GetVerb() == "create" && a.GetResource() == "modelboxes" && a.GetSubresource() == "promote" && a.GetName() == "web" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "", nil
}

func TestImmediateRollback(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		dryRun []string
		admit  admission.Interface
		// hasSteps says that the rollback leaves steps out.
		isStored, hasSteps bool
	}{
		{"a box whose rollouts are in steps", nil, nil, true, true},
		{"as a dry run", []string{metav1.DryRunAll}, nil, false, true},
		{"admission changes the pods", nil, &mutatingAdmission{Handler: admission.NewHandler(admission.Update)}, true, true},
		{"admission removes the steps", nil, &mutatingAdmission{Handler: admission.NewHandler(admission.Update), removesSteps: true}, true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := createInSteps(t, storage, 1, model.RolloutProgressing, withImage("nginx:2"))
			rollback, recorded := newRollback(storage, nil, revisionOf(t, before, 1, withImage("nginx:1")), revisionOf(t, before, 2))
			immediate := *rollback.immediate
			immediate.Admission = row.admit
			rollback.immediate, rollback.permissions = &immediate, permissions{allowsPromotions{}}
			warnings := &recordedWarnings{}
			answer, err := rollback.Create(warning.WithWarningRecorder(asAnna(t), warnings), "web", &model.ModelBoxRollback{Immediate: true}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: row.dryRun})
			if err != nil {
				t.Fatal(err)
			}
			if got := answer.(*model.ModelBoxRollback); !got.Immediate || got.Status.Revision != 1 || got.Status.Generation != before.Generation+1 {
				t.Errorf("the answer is %+v", got)
			}
			if isTold := slices.ContainsFunc(warnings.texts, func(text string) bool { return strings.Contains(text, "in steps") }); isTold {
				t.Errorf("the warnings are %q", warnings.texts)
			}
			after := get(t, storage)
			if !row.isStored {
				if diff := cmp.Diff(before, after); diff != "" || len(recorded) > 0 {
					t.Errorf("the box, -before +after, and %d events:\n%s", len(recorded), diff)
				}
				return
			}
			if after.Spec.Image != "nginx:1" || after.Generation != before.Generation+1 {
				t.Errorf("the box is %+v", after)
			}
			want := before.Status.DeepCopy()
			if row.hasSteps {
				served, err := asServed(after)
				if err != nil {
					t.Fatal(err)
				}
				hash, err := modelboxrender.PodsHash(served)
				if err != nil {
					t.Fatal(err)
				}
				last := before.Status.Rollout
				want.Rollout = &model.ModelBoxRolloutStatus{
					Phase: model.RolloutProgressing, PodsHash: hash, Step: ptr.To[int32](3),
					Stable: last.Stable, FailedRevisions: last.FailedRevisions, Candidate: last.Candidate, Traffic: last.Traffic,
				}
			}
			if diff := cmp.Diff(*want, after.Status, cmpopts.IgnoreFields(model.ModelBoxRolloutStatus{}, "StartedAt")); diff != "" {
				t.Errorf("the status, -want +got:\n%s", diff)
			}
			if event, want := <-recorded, `Normal RolledBack User "anna" rolled the box back to revision 1 immediately`; event != want {
				t.Errorf("the event is %q, want %q", event, want)
			}
		})
	}
}

// mutatingAdmission changes the pods of boxes that are updated, and may remove the steps of their rollouts.
type mutatingAdmission struct {
	*admission.Handler
	removesSteps bool
}

func (m *mutatingAdmission) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	box := a.GetObject().(*model.ModelBox)
	box.Spec.Labels = map[string]string{"seen": "yes"}
	if m.removesSteps {
		box.Spec.Rollout = nil
	}
	return nil
}

func TestImmediateRollbackNeedsTheRightToPromote(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	before := createInSteps(t, storage, 1, model.RolloutProgressing, withImage("nginx:2"))
	rollback, recorded := newRollback(storage, nil, revisionOf(t, before, 1, withImage("nginx:1")), revisionOf(t, before, 2))
	rollback.permissions = permissions{allowsDeployments{}}
	_, err := rollback.Create(asAnna(t), "web", &model.ModelBoxRollback{Immediate: true}, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `cannot create resource "modelboxes/promote"`) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, get(t, storage)); diff != "" || len(recorded) > 0 {
		t.Errorf("the box, -before +after, and %d events:\n%s", len(recorded), diff)
	}
}
