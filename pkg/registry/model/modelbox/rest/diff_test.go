// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// testDiffer answers what a test says, and takes note of what it was asked.
type testDiffer struct {
	diffs []modelv1.ModelBoxChildDiff
	err   error

	images, mayGet []string
}

func (d *testDiffer) Diff(_ context.Context, _ *modelv1.ModelBox, rendered []*unstructured.Unstructured, mayGet func(schema.GroupVersionResource) bool) ([]modelv1.ModelBoxChildDiff, error) {
	containers, _, _ := unstructured.NestedSlice(rendered[0].Object, "spec", "template", "spec", "containers")
	d.images = append(d.images, containers[0].(map[string]any)["image"].(string))
	for _, resource := range []string{"deployments", "statefulsets"} {
		d.mayGet = append(d.mayGet, fmt.Sprint(resource, " ", mayGet(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource})))
	}
	return d.diffs, d.err
}

// allowsDeployments lets anna get the Deployments of the default namespace, and allows no other request.
type allowsDeployments struct{}

func (allowsDeployments) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.GetUser().GetName() == "anna" && a.GetVerb() == "get" && a.GetResource() == "deployments" && a.GetAPIGroup() == "apps" && a.GetNamespace() == metav1.NamespaceDefault {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "", nil
}

func newDiff(storage *testStorage, differ *testDiffer) *DiffREST {
	return &DiffREST{storage.ModelBox.Store, &testCluster{}, differ, allowsDeployments{}}
}

// changing are diffs of which each has an effect of its own.
func changing() []modelv1.ModelBoxChildDiff {
	return []modelv1.ModelBoxChildDiff{
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Action: modelv1.DiffActionUpdate, Fields: []modelv1.ModelBoxFieldDiff{{Path: "spec.template.spec.hostname"}}},
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Action: modelv1.DiffActionUpdate, Fields: []modelv1.ModelBoxFieldDiff{
			{Path: "spec.minReadySeconds"}, {Path: "spec.template.spec.hostname", Ignored: true},
		}},
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", Action: modelv1.DiffActionReplace},
		{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", Action: modelv1.DiffActionReplace},
		{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", Action: modelv1.DiffActionDelete},
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "web-canary", Action: modelv1.DiffActionUpdate, Fields: []modelv1.ModelBoxFieldDiff{{Path: "spec.template.spec.hostname"}}},
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "web-canary", Action: modelv1.DiffActionDelete},
		{APIVersion: "v1", Kind: "Service", Name: "web", Action: modelv1.DiffActionReplace},
		{APIVersion: "v1", Kind: "Service", Name: "web", Action: modelv1.DiffActionUpdate},
		{APIVersion: "v1", Kind: "Service", Name: "web", Action: modelv1.DiffActionDelete},
		{APIVersion: "v1", Kind: "Service", Name: "web", Action: modelv1.DiffActionCreate},
	}
}

func effectsOf(obj runtime.Object) []string {
	var effects []string
	for _, child := range obj.(*model.ModelBoxDiff).Children {
		effects = append(effects, child.Effect)
	}
	return effects
}

// setReplicas lets the box named web have pods.
func setReplicas(t *testing.T, storage *testStorage, replicas int32) {
	t.Helper()
	if _, _, err := storage.Status.Update(inDefault(t), "web", changed(func(box *model.ModelBox) { box.Status.Replicas = replicas }),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestDiffOfTheStoredBox(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		pause bool
		want  []string
	}{
		{"a box", false, []string{"rolls 2 pods", "", "replaces the Deployment and its 2 pods", "replaces the StatefulSet", "deletes the StatefulSet and its 2 pods",
			"", "deletes the Deployment", "replaces the Service", "", "deletes the Service", ""}},
		{"a paused box", true, []string{"will roll 2 pods when the box is unpaused", "", "will replace the Deployment and its 2 pods when the box is unpaused",
			"will replace the StatefulSet when the box is unpaused", "will delete the StatefulSet and its 2 pods when the box is unpaused",
			"", "will delete the Deployment when the box is unpaused", "will replace the Service when the box is unpaused", "", "will delete the Service when the box is unpaused", ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			stored := create(t, storage, newBox(func(box *model.ModelBox) { box.Spec.Paused = row.pause }))
			setReplicas(t, storage, 2)
			differ := &testDiffer{diffs: changing()}
			got, err := newDiff(storage, differ).Get(asAnna(t), "web", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			diff := got.(*model.ModelBoxDiff)
			if diff.Name != "web" || diff.UID != stored.UID || diff.Paused != row.pause {
				t.Errorf("it is of %+v, paused %t", diff.ObjectMeta, diff.Paused)
			}
			if diff := cmp.Diff(row.want, effectsOf(got)); diff != "" {
				t.Errorf("effects, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{"deployments true", "statefulsets false"}, differ.mayGet); diff != "" {
				t.Errorf("what may be seen, -want +got:\n%s", diff)
			}
		})
	}
}

func TestDiffShowsTheFirstFields(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	differ := &testDiffer{diffs: []modelv1.ModelBoxChildDiff{{Fields: make([]modelv1.ModelBoxFieldDiff, maxDiffFields+12)}}}
	got, err := newDiff(storage, differ).Get(asAnna(t), "web", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if child := got.(*model.ModelBoxDiff).Children[0]; len(child.Fields) != maxDiffFields || child.OmittedFields != 12 {
		t.Errorf("it has %d fields, and %d are omitted", len(child.Fields), child.OmittedFields)
	}
}

func TestDiffOfABoxThatIsSent(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	create(t, storage, newBox())
	setReplicas(t, storage, 2)
	before := get(t, storage)
	differ := &testDiffer{diffs: changing()[:1]}
	diff := newDiff(storage, differ)
	for _, sent := range []*model.ModelBox{
		newBox(withImage("nginx:1.9.1")),
		newBox(withImage("nginx:1.9.2"), func(box *model.ModelBox) { box.Name = "" }),
		newBox(withImage("nginx:1.9.3"), func(box *model.ModelBox) { box.ResourceVersion = "1" }),
	} {
		got, err := diff.Create(asAnna(t), "web", sent, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"rolls 2 pods"}, effectsOf(got)); diff != "" {
			t.Errorf("effects, -want +got:\n%s", diff)
		}
	}
	got, err := diff.Create(asAnna(t), "mail", newBox(named("mail"), withImage("postfix:3")), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil || got.(*model.ModelBoxDiff).Name != "mail" || got.(*model.ModelBoxDiff).UID != "" {
		t.Errorf("of a box that there is not: %v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"nginx:1.9.1", "nginx:1.9.2", "nginx:1.9.3", "postfix:3"}, differ.images); diff != "" {
		t.Errorf("images, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(before, get(t, storage)); diff != "" {
		t.Errorf("the stored box, -before +after:\n%s", diff)
	}
}

func TestDiffsThatAreRefused(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, runtime.Object) error {
		return apierrors.NewForbidden(model.Resource("modelboxes/diff"), "web", errors.New("by admission"))
	}
	for _, row := range []struct {
		name     string
		sent     runtime.Object
		validate rest.ValidateObjectFunc
		differ   testDiffer
		is       func(error) bool
		message  string
	}{
		{"an invalid change", newBox(func(box *model.ModelBox) {
			box.Spec.Workload = model.WorkloadDaemonSet
			box.Spec.MinReadySeconds = new(int32(-1))
		}), nil, testDiffer{}, apierrors.IsInvalid, "spec.minReadySeconds"},
		{"another name", newBox(named("mail")), nil, testDiffer{}, apierrors.IsBadRequest, "does not match the name on the URL"},
		{"no box", &model.ModelBoxRestart{}, nil, testDiffer{}, apierrors.IsBadRequest, "expected a ModelBox"},
		{"admission refuses", newBox(), refuse, testDiffer{}, apierrors.IsForbidden, "by admission"},
		{"the cluster does not answer", newBox(), nil, testDiffer{err: errors.New("it is unavailable")}, apierrors.IsServiceUnavailable, "asking the cluster: it is unavailable"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			create(t, storage, newBox())
			_, err := newDiff(storage, &row.differ).Create(asAnna(t), "web", row.sent, row.validate, &metav1.CreateOptions{})
			if err == nil || !row.is(err) || !strings.Contains(err.Error(), row.message) {
				t.Errorf("got %v, want %s", err, row.message)
			}
		})
	}
	storage := newStorage(t)
	if _, err := newDiff(storage, &testDiffer{}).Get(asAnna(t), "web", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("of a box that there is not: %v", err)
	}
}
