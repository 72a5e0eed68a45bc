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
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

const (
	podClaim   = "data-web-0"
	pruneClaim = "delete persistentvolumeclaims " + podClaim
	patchClaim = "patch persistentvolumeclaims " + podClaim
	replaceSet = "delete statefulsets web"
)

// newStatefulTest returns a controller of a StatefulSet that is as its box says, with the claim of a pod that goes with it.
func newStatefulTest(t *testing.T, storage func(*modelv1.ModelBoxStorage), claimChanges ...func(*corev1.PersistentVolumeClaim)) *testController {
	t.Helper()
	box := statefulBox(t)
	withStorage(storage)(box)
	f := newTestController(t, box)
	f.mustReconcile(t)
	set := f.changeStatefulSet(t, func(set *appsv1.StatefulSet) { set.UID = "set" })
	ofSet := func(claim *corev1.PersistentVolumeClaim) {
		claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	}
	claim := newClaim(podClaim, append([]func(*corev1.PersistentVolumeClaim){ofBox("web"), ofSet}, claimChanges...)...)
	if err := f.cluster.Tracker().Add(claim); err != nil {
		t.Fatal(err)
	}
	f.seeClaims(t)
	f.mustReconcile(t)
	f.seeClaims(t)
	return f
}

// changeStatefulSet changes the StatefulSet in the cluster.
func (f *testController) changeStatefulSet(t *testing.T, change func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	t.Helper()
	set, err := f.cluster.AppsV1().StatefulSets(fixture.WebKey.Namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(set)
	if err := f.cluster.Tracker().Update(appsv1.SchemeGroupVersion.WithResource("statefulsets"), set, set.Namespace); err != nil {
		t.Fatal(err)
	}
	return set
}

// reconcileClaims reconciles until the controller has seen the owners of claims that it writes, and returns the requests.
func (f *testController) reconcileClaims(t *testing.T) []string {
	t.Helper()
	var requests []string
	for range 3 {
		f.mustReconcile(t)
		requests = append(requests, f.requests()...)
		f.seeClaims(t)
	}
	return requests
}

// podOf returns a pod that has the claim.
func podOf(claim string) *corev1.Pod {
	return newPod("web-0", func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	})
}

func controllerOf(claim *corev1.PersistentVolumeClaim) string {
	if controller := metav1.GetControllerOf(claim); controller != nil {
		return controller.Kind
	}
	return ""
}

func TestDiscardedClaimOfAPodIsPrunedWhenNothingNeedsIt(t *testing.T) {
	f := newStatefulTest(t, discarded)
	pod := podOf(podClaim)
	f.cache(t, pod)
	f.takeOutStorage(t)
	requests := f.reconcileClaims(t)
	if i, j := slices.Index(requests, patchClaim), slices.Index(requests, replaceSet); i < 0 || j < i {
		t.Errorf("the box does not own the claim before the StatefulSet is replaced: %q", requests)
	}
	check(t, "owner", "ModelBox", controllerOf(f.claim(t, podClaim)))

	complete := func(set *appsv1.StatefulSet) {
		set.Status = appsv1.StatefulSetStatus{ObservedGeneration: set.Generation, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2}
	}
	for _, row := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"while the rollout runs", func() {}, false},
		{"while a pod has it", func() { f.changeStatefulSet(t, complete) }, false},
		{"afterwards", func() {
			if err := f.pods.Delete(pod); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		row.change()
		f.seeClaims(t)
		check(t, "is pruned "+row.name, row.want, slices.Contains(f.reconcileClaims(t), pruneClaim))
	}
}

func TestDiscardedClaimOfAPodIsThatOfStorageThatComesBack(t *testing.T) {
	f := newStatefulTest(t, discarded)
	storage := f.takeOutStorage(t)
	f.reconcileClaims(t)
	check(t, "owner of what is taken out", "ModelBox", controllerOf(f.claim(t, podClaim)))
	f.update(t, func(box *modelv1.ModelBox) { box.Spec.Storage, box.Generation = storage, box.Generation+1 })
	f.seeClaims(t)
	requests := f.reconcileClaims(t)
	if slices.Contains(requests, pruneClaim) {
		t.Errorf("the claim is pruned: %q", requests)
	}
	check(t, "owner of what is back", "StatefulSet", controllerOf(f.claim(t, podClaim)))
	f.seeClaims(t)
	check(t, "requests afterwards", []string(nil), f.reconcileClaims(t))
}

func TestDiscardedClaimIsNotGivenToAStatefulSetThatGoes(t *testing.T) {
	for _, row := range []struct {
		name string
		goes func(*testing.T, *testController)
	}{
		{"gone", func(t *testing.T, f *testController) {
			if err := f.cluster.Tracker().Delete(appsv1.SchemeGroupVersion.WithResource("statefulsets"), fixture.WebKey.Namespace, "web"); err != nil {
				t.Fatal(err)
			}
		}},
		{"being deleted", func(t *testing.T, f *testController) {
			f.changeStatefulSet(t, func(set *appsv1.StatefulSet) { set.DeletionTimestamp = ptr.To(metav1.Now()) })
		}},
		{"another one", func(t *testing.T, f *testController) {
			f.changeStatefulSet(t, func(set *appsv1.StatefulSet) { set.UID = "other" })
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newStatefulTest(t, discarded)
			storage := f.takeOutStorage(t)
			f.mustReconcile(t)
			check(t, "owner of what is taken out", "ModelBox", controllerOf(f.claim(t, podClaim)))
			f.update(t, func(box *modelv1.ModelBox) { box.Spec.Storage, box.Generation = storage, box.Generation+1 })
			f.seeClaims(t)
			row.goes(t, f)
			if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); err == nil {
				t.Error("it is not tried again")
			}
			check(t, "owner of what is back", "ModelBox", controllerOf(f.claim(t, podClaim)))
		})
	}
}

func TestClaimOfAPodThatStays(t *testing.T) {
	taken := func(box *modelv1.ModelBox) { box.Spec.Storage = nil }
	retained := func(storage *modelv1.ModelBoxStorage) { storage.Retain = ptr.To(true) }
	for _, row := range []struct {
		name    string
		storage func(*modelv1.ModelBoxStorage)
		change  func(*modelv1.ModelBox)
		claim   func(*corev1.PersistentVolumeClaim)
	}{
		{name: "of storage that stays", storage: discarded, change: func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" }},
		{name: "of storage that is retained", storage: retained, change: taken},
		{name: "of a box that is paused", storage: discarded, change: func(box *modelv1.ModelBox) { taken(box); box.Spec.Paused = true }},
		{name: "one that the StatefulSet would not take along", storage: discarded, change: taken, claim: func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = nil }},
		{name: "one that is being deleted", storage: discarded, change: taken, claim: func(claim *corev1.PersistentVolumeClaim) { claim.DeletionTimestamp = ptr.To(metav1.Now()) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.claim == nil {
				row.claim = func(*corev1.PersistentVolumeClaim) {}
			}
			f := newStatefulTest(t, row.storage, row.claim)
			f.update(t, func(box *modelv1.ModelBox) {
				row.change(box)
				box.Generation++
			})
			f.seeClaims(t)
			for _, request := range f.reconcileClaims(t) {
				if request == pruneClaim || request == patchClaim {
					t.Errorf("request: %s", request)
				}
			}
		})
	}
}

// A policy or a webhook may deny the change of a claim. The StatefulSet stays, all else is as the box says, and the box tells why.
func TestClaimThatTheBoxCannotOwnKeepsItsStatefulSetOnly(t *testing.T) {
	f := newStatefulTest(t, discarded)
	f.cluster.PrependReactor("patch", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(kinds.ClaimResource, podClaim, errors.New("denied by policy"))
	})
	f.update(t, func(box *modelv1.ModelBox) {
		box.Spec.Storage, box.Spec.Ports = nil, []corev1.ServicePort{{Name: "http", Port: 8080, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}}
		box.Generation++
	})
	f.seeClaims(t)

	if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); err == nil {
		t.Error("the reconcile does not fail")
	}
	if got := f.requests(); slices.Contains(got, replaceSet) || !slices.Contains(got, "patch services web") {
		t.Errorf("requests: %q", got)
	}
	applied := meta.FindStatusCondition(f.boxInServer(t).Status.Conditions, modelv1.ConditionApplied)
	check(t, "reason of Applied", modelv1.ReasonForbidden, applied.Reason)
	if want := `"data-web-0" is forbidden: denied by policy`; !strings.Contains(applied.Message, want) {
		t.Errorf("message of Applied: %q, want %q in it", applied.Message, want)
	}
	check(t, "observed generation", f.boxInServer(t).Generation, f.boxInServer(t).Status.ObservedGeneration)
}
