// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// expectAbsent serves from the store, and expects these absent owners.
func expectAbsent(t *testing.T, f *fixture, situation Situation, want ...AbsentOwner) {
	t.Helper()
	a, err := f.attempt()
	if err != nil {
		t.Fatal(err)
	}
	if a.situation != situation {
		t.Errorf("the store is %s, want %s", a.situation, situation)
	}
	if diff := cmp.Diff(want, a.absent); diff != "" {
		t.Errorf("absent owners, -want +got:\n%s", diff)
	}
}

// expectStillAbsent expects that these absent owners still have children.
func (f *fixture) expectStillAbsent(want ...AbsentOwner) {
	f.t.Helper()
	read, err := f.store.absentOwners(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	still, err := stillAbsent(f.t.Context(), read.owners, f.contents, &cluster{kube: f.config.KubeClient, metadata: f.config.MetadataClient})
	if err != nil {
		f.t.Fatal(err)
	}
	if diff := cmp.Diff(want, still); diff != "" {
		f.t.Errorf("still absent, -want +got:\n%s", diff)
	}
}

func naming(name string, uid types.UID) func(*metav1.PartialObjectMetadata) {
	return func(child *metav1.PartialObjectMetadata) {
		child.OwnerReferences[0].Name, child.OwnerReferences[0].UID = name, uid
	}
}

// A user with permission to write workloads in one namespace cannot keep the server from being ready.
func TestForgedChildrenHarmTheirOwnNamespaceOnly(t *testing.T) {
	t.Parallel()
	web := box("web", "1")
	for _, row := range []struct {
		name  string
		child func(*metav1.PartialObjectMetadata)
		// mark is the position on the Lease, nil for a first installation.
		mark *Position
		want []AbsentOwner
		// situation is the expected situation of the store.
		situation Situation
	}{
		{"an owner whose name no box can have, at the first installation", naming("a%b", "9"), nil, nil, New},
		{"an owner whose name no box can have, in a lost store", naming("a%b", "9"), &earlier, nil, Empty},
		{"an owner whose name escapes the namespace", naming("..", "9"), &earlier, nil, Empty},
		{"an owner without a UID", naming("web", ""), &earlier, nil, Empty},
		{"an owner that never was, at the first installation", naming("never", "9"), nil, []AbsentOwner{{"modelboxes", "mallory", "never", "9"}}, Empty},
		{"an owner that never was, in a lost store", naming("never", "9"), &earlier, []AbsentOwner{{"modelboxes", "mallory", "never", "9"}}, Empty},
		{"a record that cannot be read", func(child *metav1.PartialObjectMetadata) {
			child.Annotations[modelv1.RecordAnnotation] = "?"
		}, &earlier, []AbsentOwner{{"modelboxes", "mallory", "web", "1"}}, Empty},
		{"a record of a box whose name no box can have", func(child *metav1.PartialObjectMetadata) {
			*child = *deploymentOf(t, box("a%b", "9"), func(child *metav1.PartialObjectMetadata) { child.Namespace = "mallory" })
		}, &earlier, nil, Empty},
	} {
		t.Run(row.name, func(t *testing.T) {
			children := []runtime.Object{deploymentOf(t, web, func(child *metav1.PartialObjectMetadata) { child.Namespace = "mallory" }, row.child)}
			var want []string
			if row.mark != nil {
				children = append(children, deploymentOf(t, web))
				want = append(want, "web")
			}
			f := newFixture(t, children...)
			if row.mark != nil {
				f.setLease(*row.mark)
			}
			expectAbsent(t, f, row.situation, row.want...)
			expectNames(t, f.stored(), want...)
		})
	}
}

func TestAbsentOwnersAreForgottenWithTheirChildren(t *testing.T) {
	forged := childOf(box("never", "9"), "apps/v1", "Deployment")
	f := newFixture(t, forged)
	never := AbsentOwner{"modelboxes", testNamespace, "never", "9"}
	expectAbsent(t, f, Empty, never)
	f.expectStillAbsent(never)
	f.put(box("never", "8")) // another box of this name
	f.expectStillAbsent(never)
	if err := f.config.MetadataClient.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(testNamespace).Delete(t.Context(), forged.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.expectStillAbsent()
}

// The garbage collector deletes the children after any response but an error.
func TestRequestsForAbsentOwnersAreRefused(t *testing.T) {
	f := newFixture(t)
	refusing := &refusedOwners{}
	refusing.set([]AbsentOwner{{"modelboxes", testNamespace, "never", "9"}, {Resource: "modelboxes", Namespace: "many"}})
	boxes := ownerRefusingStorage{f.boxes.storage, model.Resource("modelboxes"), refusing}
	for _, row := range []struct {
		namespace, name string
		isRefused       bool
	}{
		{testNamespace, "never", true},
		{testNamespace, "web", false},
		{"other", "never", false},
		{"many", "web", true},
	} {
		key := f.boxes.key(types.NamespacedName{Namespace: row.namespace, Name: row.name})
		stored, err := newBox(box(row.name, "1", func(box *modelv1.ModelBox) { box.Namespace = row.namespace }))
		if err != nil {
			t.Fatal(err)
		}
		noChange := storage.SimpleUpdate(func(object runtime.Object) (runtime.Object, error) { return object, nil })
		for _, request := range []struct {
			verb string
			err  error
		}{
			{"create", boxes.Create(t.Context(), key, stored, &model.ModelBox{}, 0)},
			{"get", boxes.Get(t.Context(), key, storage.GetOptions{}, &model.ModelBox{})},
			{"update", boxes.GuaranteedUpdate(t.Context(), key, &model.ModelBox{}, false, nil, noChange, nil)},
		} {
			if row.isRefused != apierrors.IsServiceUnavailable(request.err) || !row.isRefused && request.err != nil {
				t.Errorf("%s %s/%s: %v", request.verb, row.namespace, row.name, request.err)
			}
		}
	}
}

func TestAbsentOwnersOf(t *testing.T) {
	owner := func(namespace, name string) AbsentOwner { return AbsentOwner{"modelboxes", namespace, name, "9"} }
	children := func(owners ...AbsentOwner) (orphans []orphan) {
		for _, owner := range owners {
			orphans = append(orphans, orphan{owner: owner})
		}
		return orphans
	}
	many := make([]AbsentOwner, maxAbsentOwners+1)
	for i := range many {
		many[i] = owner("b", fmt.Sprintf("box-%05d", i))
	}
	for _, row := range []struct {
		name    string
		orphans []orphan
		want    []AbsentOwner
	}{
		{"none", nil, nil},
		{"owners of several children, in any order", children(owner("b", "z"), owner("a", "y"), owner("b", "z"), owner("a", "x")), []AbsentOwner{owner("a", "x"), owner("a", "y"), owner("b", "z")}},
		{"as many as are listed", children(many[1:]...), many[1:]},
		{"more children than owners that are listed", children(append(many[:60:60], many[:60]...)...), many[:60]},
		{"more", children(append(many, owner("a", "x"))...), []AbsentOwner{owner("a", "x"), {Resource: "modelboxes", Namespace: "b"}}},
	} {
		if diff := cmp.Diff(row.want, absentOwnersOf(row.orphans)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", row.name, diff)
		}
	}
}

func TestAbsentOwnerCovers(t *testing.T) {
	web := AbsentOwner{"modelboxes", "a", "web", "9"}
	all := AbsentOwner{Resource: "modelboxes", Namespace: "a"}
	for _, row := range []struct {
		owner, other AbsentOwner
		want         bool
	}{
		{web, web, true},
		{all, web, true},
		{web, all, false},
		{web, AbsentOwner{"modelboxes", "a", "web", "8"}, false},
		{all, AbsentOwner{"modelboxes", "b", "web", "9"}, false},
		{all, AbsentOwner{"modelstacks", "a", "web", "9"}, false},
	} {
		if got := row.owner.covers(row.other); got != row.want {
			t.Errorf("%v covers %v: %t", row.owner, row.other, got)
		}
	}
}
