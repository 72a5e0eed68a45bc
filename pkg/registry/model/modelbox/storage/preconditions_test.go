// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// Preconditions hold for what is stored, even where the watch cache of the server that is asked is behind.
func TestPreconditions(t *testing.T) {
	t.Parallel()
	backend := newBackend(t)
	other := backend.newStorage(t)

	for _, row := range []struct {
		name    string
		uid     func(former, current *model.ModelBox) types.UID
		version func(former, current *model.ModelBox) string
		refused bool
	}{
		{"the UID of the box", func(_, current *model.ModelBox) types.UID { return current.UID }, nil, false},
		{"the UID of a former box of the name", func(former, _ *model.ModelBox) types.UID { return former.UID }, nil, true},
		{"the version of the box", nil, func(_, current *model.ModelBox) string { return current.ResourceVersion }, false},
		{"an older version", nil, func(former, _ *model.ModelBox) string { return former.ResourceVersion }, true},
	} {
		// recreate leaves a box that replaced another of its name, and the preconditions of the row.
		recreate := func(t *testing.T) (*model.ModelBox, *metav1.Preconditions) {
			former := create(t, other, newBox())
			remove(t, other, "web", &metav1.DeleteOptions{})
			current := create(t, other, newBox())
			preconditions := &metav1.Preconditions{}
			if row.uid != nil {
				preconditions.UID = ptr.To(row.uid(former, current))
			}
			if row.version != nil {
				preconditions.ResourceVersion = ptr.To(row.version(former, current))
			}
			return current, preconditions
		}
		storage := backend.newStorage(t)
		t.Run("update with "+row.name, func(t *testing.T) {
			current, preconditions := recreate(t)
			box := newBox(withImage("nginx:2"))
			box.UID, box.ResourceVersion = ptr.Deref(preconditions.UID, ""), ptr.Deref(preconditions.ResourceVersion, "")
			_, _, err := storage.ModelBox.Update(inDefault(t), "web", rest.DefaultUpdatedObjectInfo(box),
				rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
			expectRefused(t, err, row.refused)
			if isUnchanged := get(t, other).ResourceVersion == current.ResourceVersion; isUnchanged != row.refused {
				t.Errorf("the box is unchanged: %t", isUnchanged)
			}
			remove(t, other, "web", &metav1.DeleteOptions{})
		})
		t.Run("delete with "+row.name, func(t *testing.T) {
			_, preconditions := recreate(t)
			_, _, err := storage.ModelBox.Delete(inDefault(t), "web", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{Preconditions: preconditions})
			expectRefused(t, err, row.refused)
			if row.refused {
				remove(t, other, "web", &metav1.DeleteOptions{})
			}
			expectGone(t, other)
		})
	}
}

func expectRefused(t *testing.T, err error, want bool) {
	t.Helper()
	if want && !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	if !want && err != nil {
		t.Error(err)
	}
}

// expectGone checks that there is no box named web.
func expectGone(t *testing.T, storage *Storage) {
	t.Helper()
	if _, err := storage.ModelBox.Get(inDefault(t), "web", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the box is still there: %v", err)
	}
}
