// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// A box with finalizers stays, marked as being deleted, until the last of them is gone.
func TestFinalizersHoldABox(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	created := create(t, storage, newBox(withFinalizers("example.com/one", "example.com/two")))
	watcher := startWatch(t, storage, &metainternalversion.ListOptions{ResourceVersion: created.ResourceVersion})

	marked := remove(t, storage, "web", &metav1.DeleteOptions{})
	if marked == nil || marked.DeletionTimestamp == nil || ptr.Deref(marked.DeletionGracePeriodSeconds, -1) != 0 || marked.Generation != 2 {
		t.Fatalf("a deleted box with finalizers is %+v", marked)
	}
	expectEvent(t, watcher, watch.Modified, marked)
	if diff := cmp.Diff(marked, get(t, storage)); diff != "" {
		t.Errorf("-answered +stored:\n%s", diff)
	}

	again := remove(t, storage, "web", &metav1.DeleteOptions{})
	if again.ResourceVersion != marked.ResourceVersion {
		t.Error("a second deletion changed the box")
	}
	_, err := tryUpdate(inDefault(t), storage, "web", withFinalizers("example.com/one", "example.com/two", "example.com/three"))
	if !apierrors.IsInvalid(err) {
		t.Errorf("a finalizer that comes too late: got %v", err)
	}

	one := update(t, storage, withFinalizers("example.com/two"))
	expectEvent(t, watcher, watch.Modified, one)
	if one.DeletionTimestamp == nil {
		t.Error("an update has taken the deletion back")
	}
	gone := update(t, storage, withFinalizers())
	expectGone(t, storage)
	gone.ResourceVersion = list(t, storage, &metainternalversion.ListOptions{}).ResourceVersion
	expectEvent(t, watcher, watch.Deleted, gone)
}

// The strategy knows no grace: a box without finalizers is gone at once, whatever the request says.
func TestABoxHasNoGracePeriod(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	for name, seconds := range map[string]*int64{"none is given": nil, "now": ptr.To[int64](0), "half a minute": ptr.To[int64](30)} {
		t.Run(name, func(t *testing.T) {
			create(t, storage, newBox())
			if left := remove(t, storage, "web", &metav1.DeleteOptions{GracePeriodSeconds: seconds}); left != nil && left.DeletionTimestamp != nil {
				t.Errorf("it is being deleted at %s", left.DeletionTimestamp)
			}
			expectGone(t, storage)
		})
	}
}

// How dependents are to be deleted is written into the box for the garbage collector, which then lets it go.
func TestPropagationOfADeletion(t *testing.T) {
	t.Parallel()
	storage := newStorage(t)
	for _, row := range []struct {
		policy metav1.DeletionPropagation
		want   []string
	}{
		{metav1.DeletePropagationBackground, nil},
		{metav1.DeletePropagationForeground, []string{metav1.FinalizerDeleteDependents}},
		{metav1.DeletePropagationOrphan, []string{metav1.FinalizerOrphanDependents}},
	} {
		t.Run(string(row.policy), func(t *testing.T) {
			create(t, storage, newBox())
			remove(t, storage, "web", &metav1.DeleteOptions{PropagationPolicy: &row.policy})
			if row.want == nil {
				expectGone(t, storage)
				return
			}
			box := get(t, storage)
			if diff := cmp.Diff(row.want, box.Finalizers); diff != "" || box.DeletionTimestamp == nil {
				t.Errorf("deleted at %v, finalizers, -want +got:\n%s", box.DeletionTimestamp, diff)
			}
			update(t, storage, func(box *model.ModelBox) { box.Finalizers = nil })
			expectGone(t, storage)
		})
	}
}
