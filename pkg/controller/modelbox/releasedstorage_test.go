// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// retainStorage is what the API server makes of an update that retains the storage data, and of one that takes it out afterwards.
func retainStorage(box *modelv1.ModelBox) {
	box.Spec.Storage[0].Retain, box.Status.UnreleasedStorage = ptr.To(true), []string{"data"}
	box.Generation++
}

func takeOutRetained(box *modelv1.ModelBox) {
	retainStorage(box)
	box.Spec.Storage = nil
	box.Generation++
}

func pauseBox(change func(*modelv1.ModelBox)) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) {
		change(box)
		box.Spec.Paused = true
	}
}

var changesOfRetainedStorage = []struct {
	name   string
	change func(*modelv1.ModelBox)
}{
	{"that the box has", retainStorage},
	{"of a box that is paused", pauseBox(retainStorage)},
	{"that was taken out before the controller has seen that it is retained", takeOutRetained},
	{"that was taken out of a box that is paused", pauseBox(takeOutRetained)},
}

func TestClaimOfRetainedStorageIsReleased(t *testing.T) {
	for _, row := range changesOfRetainedStorage {
		t.Run(row.name, func(t *testing.T) {
			f := newTestController(t, fixture.WebBox(t, withStorage(discarded)))
			f.mustReconcile(t)
			check(t, "owner before", "ModelBox", controllerOf(f.claim(t, "web-data")))
			f.completeRollout(t)
			f.update(t, row.change)
			f.seeClaims(t)
			f.reconcileClaims(t)
			check(t, "owners", 0, len(f.claim(t, "web-data").OwnerReferences))
			check(t, "unreleased storage", []string(nil), f.boxInServer(t).Status.UnreleasedStorage)

			f.update(t, func(box *modelv1.ModelBox) {
				box.Spec.Storage, box.Spec.Paused, box.Generation = nil, false, box.Generation+1
			})
			f.seeClaims(t)
			f.mustReconcile(t)
			f.completeRollout(t)
			f.seeClaims(t)
			f.reconcileClaims(t)
			f.claim(t, "web-data")
		})
	}
}

func TestClaimsOfRetainedStorageOfAStatefulSetAreReleased(t *testing.T) {
	observed := func(set *appsv1.StatefulSet) { set.Status.ObservedGeneration = set.Generation }
	for _, row := range changesOfRetainedStorage {
		t.Run(row.name, func(t *testing.T) {
			f := newStatefulTest(t, discarded)
			f.changeStatefulSet(t, func(set *appsv1.StatefulSet) { set.Generation = 2 })
			f.update(t, row.change)
			f.seeClaims(t)
			f.mustReconcile(t)
			f.seeClaims(t)
			set := f.changeStatefulSet(t, func(*appsv1.StatefulSet) {})
			check(t, "policy", appsv1.RetainPersistentVolumeClaimRetentionPolicyType, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted)
			check(t, "unreleased storage before the StatefulSet controller has seen it", []string{"data"}, f.boxInServer(t).Status.UnreleasedStorage)

			f.changeStatefulSet(t, observed)
			f.seeClaims(t)
			f.reconcileClaims(t)
			check(t, "owners", 0, len(f.claim(t, podClaim).OwnerReferences))
			check(t, "unreleased storage", []string(nil), f.boxInServer(t).Status.UnreleasedStorage)
		})
	}
}

// A claim that cannot be released is not pruned.
func TestClaimThatCannotBeReleasedStays(t *testing.T) {
	f := newTestController(t, fixture.WebBox(t, withStorage(discarded)))
	f.mustReconcile(t)
	f.update(t, takeOutRetained)
	f.seeClaims(t)
	f.cluster.PrependReactor("patch", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(kinds.ClaimResource, "web-data", errors.New("denied by policy"))
	})
	for range 2 {
		if _, err := f.ReconcileKey(t.Context(), fixture.WebKey); err == nil {
			t.Error("the reconcile does not fail")
		}
		if got := f.requests(); slices.Contains(got, "delete persistentvolumeclaims web-data") {
			t.Errorf("requests: %q", got)
		}
		f.completeRollout(t)
		f.seeClaims(t)
	}
	check(t, "applied", "False Forbidden", f.status(t).applied)
	check(t, "unreleased storage", []string{"data"}, f.boxInServer(t).Status.UnreleasedStorage)
}
