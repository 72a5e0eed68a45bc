// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

var firstRollout = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// revisionOf returns the revision of that number as the cluster keeps it of the box with the changes.
func revisionOf(t *testing.T, box *model.ModelBox, number int64, changes ...func(*model.ModelBox)) modelboxrender.Revision {
	t.Helper()
	box = box.DeepCopy()
	box.Generation = number
	for _, change := range changes {
		change(box)
	}
	served, err := asServed(box)
	if err != nil {
		t.Fatal(err)
	}
	children, err := modelboxrender.Children(served, modelboxrender.ScaledByBox)
	if err != nil {
		t.Fatal(err)
	}
	return modelboxrender.Revision{
		ObjectMeta: metav1.ObjectMeta{Name: "web-" + string(rune('a'+number)), CreationTimestamp: firstRollout, Annotations: children[0].GetAnnotations()},
		Number:     number, Images: []string{box.Spec.Image},
	}
}

func because(cause string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		metav1.SetMetaDataAnnotation(&box.ObjectMeta, modelv1.ChangeCauseAnnotation, cause)
	}
}

func changedBy(user string) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		metav1.SetMetaDataAnnotation(&box.ObjectMeta, modelv1.ChangedByAnnotation, user)
	}
}

func withMode(mode string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Envs = []corev1.EnvVar{{Name: "MODE", Value: mode}} }
}

func paused(box *model.ModelBox) { box.Spec.Paused = true }

func TestHistory(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	box := create(t, storage, newBox(withImage("nginx:3")))
	edited := revisionOf(t, box, 4, withImage("nginx:2"), withMode("quiet"))
	edited.Images = []string{"nginx:by-hand"}
	unrecorded := revisionOf(t, box, 5)
	delete(unrecorded.Annotations, modelv1.RecordAnnotation)
	unrecorded.Annotations[modelv1.ChangeCauseAnnotation] = "of the ReplicaSet"
	history := &HistoryREST{storage.ModelBox.Store, &testCluster{revisions: []modelboxrender.Revision{
		revisionOf(t, box, 1, withImage("nginx:1")),
		revisionOf(t, box, 2, withImage("nginx:2"), withMode("debug"), because("more to see"), changedBy("anna")),
		edited,
		unrecorded,
		revisionOf(t, box, 6),
	}}, newRevisionRequests()}
	got, err := history.Get(inDefault(t), "web", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := &model.ModelBoxHistory{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: box.UID, ResourceVersion: box.ResourceVersion, CreationTimestamp: box.CreationTimestamp},
		Revisions: []model.ModelBoxRevision{
			{Revision: 1, Generation: 1, Name: "web-b", CreationTimestamp: firstRollout, Images: []string{"nginx:1"}},
			{Revision: 2, Generation: 2, Name: "web-c", CreationTimestamp: firstRollout, Images: []string{"nginx:2"}, ChangeCause: "more to see", ChangedBy: "anna", Changes: []model.ModelBoxFieldChange{
				{Path: "spec.envs", After: `[{"name":"MODE","value":"debug"}]`},
				{Path: "spec.image", Before: `"nginx:1"`, After: `"nginx:2"`},
			}},
			{Revision: 4, Generation: 4, Name: "web-e", CreationTimestamp: firstRollout, Images: []string{"nginx:2"}, Changes: []model.ModelBoxFieldChange{
				{Path: "spec.envs[MODE].value", Before: `"debug"`, After: `"quiet"`},
			}},
			{Revision: 5, Name: "web-f", CreationTimestamp: firstRollout, Images: []string{"nginx:3"}, ChangeCause: "of the ReplicaSet", Unknown: "the box was not recorded"},
			{Revision: 6, Generation: 6, Name: "web-g", CreationTimestamp: firstRollout, Images: []string{"nginx:3"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHistoryWithoutAnAnswerOfTheCluster(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	history := &HistoryREST{storage.ModelBox.Store, &testCluster{err: errors.New("it is unavailable")}, newRevisionRequests()}
	if _, err := history.Get(inDefault(t), "web", &metav1.GetOptions{}); !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "it is unavailable") {
		t.Errorf("got %v", err)
	}
	if _, err := history.Get(inDefault(t), "mail", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a box that is not there: got %v", err)
	}
}

// withRecord gives a revision the record of the box with changes that no server makes, as who can write ReplicaSets can.
func withRecord(t *testing.T, revision modelboxrender.Revision, box *model.ModelBox, edit func(*modelv1.ModelBox)) modelboxrender.Revision {
	t.Helper()
	served, err := asServed(box)
	if err != nil {
		t.Fatal(err)
	}
	recorded := &modelv1.ModelBox{ObjectMeta: served.ObjectMeta, Spec: *served.Spec.DeepCopy()}
	edit(recorded)
	data, err := recorded.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	revision.Annotations[modelv1.RecordAnnotation] = recordOf(t, data)
	return revision
}

// emptyAndPaused is a spec that was never defaulted, and would have to be rendered.
func emptyAndPaused(box *modelv1.ModelBox) { box.Spec = modelv1.ModelBoxSpec{Paused: true} }

// ingressWithoutPorts is a spec that validation refuses, and that cannot be rendered.
func ingressWithoutPorts(box *modelv1.ModelBox) {
	box.Spec.Paused, box.Spec.Ports, box.Spec.Ingress = true, nil, &modelv1.ModelBoxIngress{}
}

func manyContainers(box *modelv1.ModelBox) { box.Spec.Containers = make([]corev1.Container, 18000) }

func TestHistoryOfEditedRecords(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	box := create(t, storage, newBox(withImage("nginx:3")))
	for _, row := range []struct {
		name string
		edit func(*modelv1.ModelBox)
		want string
	}{
		{"not defaulted", emptyAndPaused, "the box was changed while it was paused"},
		{"invalid", ingressWithoutPorts, "the box was changed while it was paused"},
		{"that JSON does not have", func(box *modelv1.ModelBox) {
			box.Spec.Ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.IntOrString{Type: 7}}}
		}, "decoding the object of a record: it has no JSON form: "},
		{"of many containers", manyContainers, "decoding the object of a record: spec.containers"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			history := &HistoryREST{storage.ModelBox.Store, &testCluster{revisions: []modelboxrender.Revision{
				withRecord(t, revisionOf(t, box, 1), box, row.edit), revisionOf(t, box, 2),
			}}, newRevisionRequests()}
			got, err := history.Get(inDefault(t), "web", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			revisions := got.(*model.ModelBoxHistory).Revisions
			if len(revisions) != 2 || !strings.HasPrefix(revisions[0].Unknown, row.want) || revisions[1].Unknown != "" {
				t.Errorf("got %+v, want %s", revisions, row.want)
			}
		})
	}
}

func TestHistoryWhileOthersAreRead(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	requests := newRevisionRequests()
	history := &HistoryREST{storage.ModelBox.Store, &testCluster{}, requests}
	for range maxRevisionRequests + 1 {
		if _, err := history.Get(inDefault(t), "web", &metav1.GetOptions{}); err != nil {
			t.Errorf("one after the other: %v", err)
		}
	}
	requests.running.TryAcquire(maxRevisionRequests)
	requests.maxWait = 0
	if _, err := history.Get(inDefault(t), "web", &metav1.GetOptions{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("got %v, want 429", err)
	}
}
