// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestDiscardedClaimsArePrunedBeforeTheStatefulSetIsReplaced(t *testing.T) {
	const prune = "delete persistentvolumeclaims data-web-0"
	taken := func(box *modelv1.ModelBox) { box.Spec.Storage = nil }
	for _, row := range []struct {
		name      string
		retain    bool
		change    func(*modelv1.ModelBox)
		claim     func(*corev1.PersistentVolumeClaim)
		isChanged bool
		want      []string
	}{
		{name: "of storage that is taken out", change: taken, want: []string{prune}},
		{name: "but not of storage that stays", change: func(*modelv1.ModelBox) {}},
		{name: "but not of storage that is retained", retain: true, change: taken},
		{name: "but not of a box that is paused", change: func(box *modelv1.ModelBox) { taken(box); box.Spec.Paused = true }},
		{name: "but not one that the StatefulSet would not take along", change: taken, claim: func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = nil }},
		{name: "but not one that is being deleted", change: taken, claim: func(claim *corev1.PersistentVolumeClaim) { claim.DeletionTimestamp = ptr.To(metav1.Now()) }},
		{name: "but not of a box that has changed meanwhile", change: taken, isChanged: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := statefulBox(t)
			withStorage(func(storage *modelv1.ModelBoxStorage) { storage.Retain = ptr.To(row.retain) })(box)
			f := newTestController(t, box)
			f.mustReconcile(t)
			set, err := f.cluster.AppsV1().StatefulSets(box.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			set.UID = "set"
			claim := newClaim("data-web-0", ofBox("web"), func(claim *corev1.PersistentVolumeClaim) {
				claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
			})
			if row.claim != nil {
				row.claim(claim)
			}
			if err := f.cluster.Tracker().Add(claim); err != nil {
				t.Fatal(err)
			}
			f.update(t, func(box *modelv1.ModelBox) {
				row.change(box)
				box.Generation++
			})
			f.seeClaims(t)
			f.cache(t, set)
			cached := f.boxInServer(t)
			if row.isChanged {
				cached.Generation--
			}
			f.boxes.ClearActions()
			f.cluster.ClearActions()
			err = f.pruneDiscardedClaims(t.Context(), cached)
			check(t, "is refused", row.isChanged, err != nil)
			var got []string
			for _, request := range f.requests() {
				if request == prune {
					got = append(got, request)
				}
			}
			check(t, "requests", row.want, got)
		})
	}
}

// A policy or a webhook may deny the deletion of a claim. The StatefulSet stays, all else is as the box says, and the box tells why.
func TestClaimThatCannotBePrunedKeepsItsStatefulSetOnly(t *testing.T) {
	box := statefulBox(t)
	withStorage(discarded)(box)
	f := newTestController(t, box)
	f.mustReconcile(t)
	sets := f.cluster.AppsV1().StatefulSets(box.Namespace)
	set, err := sets.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set.UID = "set"
	claim := newClaim("data-web-0", ofBox("web"), func(claim *corev1.PersistentVolumeClaim) {
		claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	})
	if err := f.cluster.Tracker().Add(claim); err != nil {
		t.Fatal(err)
	}
	f.cluster.PrependReactor("delete", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(claimResource, claim.Name, errors.New("denied by policy"))
	})
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Storage, box.Spec.Ports = nil, []corev1.ServicePort{{Name: "http", Port: 8080, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}}
		box.Generation++
	})
	f.seeClaims(t)
	f.cache(t, set)

	if _, err := f.reconcile(t.Context(), fixture.WebKey); err == nil {
		t.Error("the reconcile does not fail")
	}
	if _, err := sets.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("the StatefulSet: %v", err)
	}
	if got := f.requests(); slices.Contains(got, "delete statefulsets web") || !slices.Contains(got, "patch services web") {
		t.Errorf("requests: %q", got)
	}
	applied := meta.FindStatusCondition(f.boxInServer(t).Status.Conditions, modelv1.ConditionApplied)
	check(t, "reason of Applied", modelv1.ReasonForbidden, applied.Reason)
	if want := `"data-web-0" is forbidden: denied by policy`; !strings.Contains(applied.Message, want) {
		t.Errorf("message of Applied: %q, want %q in it", applied.Message, want)
	}
	check(t, "observed generation", f.boxInServer(t).Generation, f.boxInServer(t).Status.ObservedGeneration)
}
