// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
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
