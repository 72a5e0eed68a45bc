// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// children decodes what was rendered.
func children(t *testing.T, rendered runtime.Object) []*unstructured.Unstructured {
	t.Helper()
	var children []*unstructured.Unstructured
	for _, item := range rendered.(*metav1.List).Items {
		child := &unstructured.Unstructured{}
		if err := child.UnmarshalJSON(item.Raw); err != nil {
			t.Fatal(err)
		}
		children = append(children, child)
	}
	return children
}

func TestRenderOfTheStoredBox(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	box, err := asServed(create(t, storage, newBox()))
	if err != nil {
		t.Fatal(err)
	}
	autoscaled := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](7)}}
	for _, row := range []struct {
		name    string
		rights  rights
		cluster testCluster
		want    func() ([]*unstructured.Unstructured, error)
	}{
		{"of which there is nothing yet", nil, testCluster{}, func() ([]*unstructured.Unstructured, error) {
			return modelboxrender.Children(box, modelboxrender.ScaledByBox)
		}},
		{"that is scaled by an autoscaler", rights{"get deployments/ web"}, testCluster{live: modelboxrender.Live{Workload: autoscaled, IsScaled: true}}, func() ([]*unstructured.Unstructured, error) {
			return modelboxrender.Children(box, modelboxrender.ScaledByAutoscaler(7))
		}},
		{"for a user who may not get the Deployment of its name", rights{"get deployments/ mail"}, testCluster{live: modelboxrender.Live{Workload: autoscaled, IsScaled: true}}, func() ([]*unstructured.Unstructured, error) {
			return modelboxrender.Children(box, modelboxrender.ScaledByBox)
		}},
		{"with a field that the cluster does not know", nil, testCluster{unknown: []string{"spec", "minReadySeconds"}}, func() ([]*unstructured.Unstructured, error) {
			children, err := modelboxrender.Children(box, modelboxrender.ScaledByBox)
			unstructured.RemoveNestedField(children[0].Object, "spec", "minReadySeconds")
			return children, err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			want, err := row.want()
			if err != nil {
				t.Fatal(err)
			}
			render := &RenderREST{storage.ModelBox.Store, &row.cluster, row.rights}
			got, err := render.Get(genericapirequest.WithUser(inDefault(t), &user.DefaultInfo{Name: "anna"}), "web", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, children(t, got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for i, item := range got.(*metav1.List).Items {
				if data, err := want[i].MarshalJSON(); err != nil || !bytes.Equal(bytes.TrimSpace(data), item.Raw) {
					t.Errorf("%s has other bytes (%v):\n%s\n%s", want[i].GetKind(), err, data, item.Raw)
				}
			}
		})
	}
}

func TestRenderOfJobs(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	render := &RenderREST{storage.ModelBox.Store, &testCluster{}, rights{}}
	withJobs := newBox(func(box *model.ModelBox) {
		box.Spec.Before, box.Spec.After = &model.ModelBoxJob{Args: []string{"migrate"}}, &model.ModelBoxJob{Args: []string{"test"}}
	})
	sent, err := render.Create(inDefault(t), "web", withJobs.DeepCopy(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	create(t, storage, withJobs)
	stored, err := render.Get(inDefault(t), "web", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, rendered := range map[string]runtime.Object{"sent": sent, "stored": stored} {
		var kinds []string
		for _, child := range children(t, rendered) {
			kinds = append(kinds, child.GetKind()+child.GetLabels()[modelv1.JobTypeLabel])
		}
		if diff := cmp.Diff([]string{"Deployment", "Service", "JobBefore", "JobAfter"}, kinds); diff != "" {
			t.Errorf("the box that is %s, -want +got:\n%s", name, diff)
		}
	}
}

func TestRenderWithoutAnAnswerOfTheCluster(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	render := &RenderREST{storage.ModelBox.Store, &testCluster{err: errors.New("it is unavailable")}, rights{}}
	_, err := render.Get(inDefault(t), "web", &metav1.GetOptions{})
	if !apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "it is unavailable") {
		t.Errorf("got %v", err)
	}
	if _, err := render.Get(inDefault(t), "mail", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a box that is not there: got %v", err)
	}
	// What is sent is rendered without the cluster.
	if _, err := render.Create(inDefault(t), "mail", newBox(named("mail")), rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Errorf("a box that is sent: got %v", err)
	}
}

func TestRenderOfABoxThatIsSent(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	render := &RenderREST{storage.ModelBox.Store, &testCluster{}, rights{}}
	sent := newBox(withImage("nginx"), func(box *model.ModelBox) { box.Name, box.Spec.Name, box.UID = "", "", "of-another" })
	var validated string
	validate := func(_ context.Context, obj runtime.Object) error {
		validated = obj.(*model.ModelBox).Spec.Image
		return nil
	}
	warnings := &recordedWarnings{}
	rendered, err := render.Create(warning.WithWarningRecorder(inDefault(t), warnings), "web", sent, validate, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := children(t, rendered)
	if len(got) != 2 || got[0].GetKind() != "Deployment" || got[0].GetName() != "web" || got[1].GetKind() != "Service" {
		t.Fatalf("got %v", got)
	}
	if owner := got[0].GetOwnerReferences()[0]; owner.Name != "web" || owner.UID != "" {
		t.Errorf("the owner is %+v", owner)
	}
	if record, err := modelboxrender.ReadRecord(got[0].GetAnnotations()[modelv1.RecordAnnotation]); err == nil {
		t.Errorf("a record without a UID can be recovered: %v", record)
	}
	if validated != "nginx" {
		t.Errorf("admission has seen the image %q", validated)
	}
	if want := []string{"spec.image: " + warn.NoTag("nginx")}; !cmp.Equal(want, warnings.texts) {
		t.Errorf("warnings: %q", warnings.texts)
	}
	expectGone(t, storage)
}

func TestBoxesThatAreNotRendered(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	render := &RenderREST{storage.ModelBox.Store, &testCluster{}, rights{}}
	refuse := func(context.Context, runtime.Object) error {
		return apierrors.NewForbidden(model.Resource("modelboxes"), "web", errors.New("by admission"))
	}
	for _, row := range []struct {
		name     string
		sent     runtime.Object
		validate rest.ValidateObjectFunc
		is       func(error) bool
	}{
		{"an invalid box", newBox(func(box *model.ModelBox) { box.Spec.Replicas = ptr.To[int32](-1) }), rest.ValidateAllObjectFunc, apierrors.IsInvalid},
		{"a box of another name", newBox(named("mail")), rest.ValidateAllObjectFunc, apierrors.IsBadRequest},
		{"no box", &model.Network{}, rest.ValidateAllObjectFunc, apierrors.IsBadRequest},
		{"a box that admission refuses", newBox(), refuse, apierrors.IsForbidden},
	} {
		t.Run(row.name, func(t *testing.T) {
			if rendered, err := render.Create(inDefault(t), "web", row.sent, row.validate, &metav1.CreateOptions{}); !row.is(err) {
				t.Errorf("got %v, %v", rendered, err)
			}
		})
	}
}

// recordedWarnings are the warnings of a request.
type recordedWarnings struct{ texts []string }

func (w *recordedWarnings) AddWarning(_, text string) { w.texts = append(w.texts, text) }
