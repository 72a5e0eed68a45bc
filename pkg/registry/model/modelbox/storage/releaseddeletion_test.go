// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// withVolume gives the box a volume of its own.
func withVolume(retain bool) func(*model.ModelBox) {
	return func(box *model.ModelBox) {
		box.Spec.Storage = []model.ModelBoxStorage{{
			Name: "data", MountPath: "/data", RequestedSize: resource.MustParse("1Gi"),
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, Retain: ptr.To(retain),
		}}
	}
}

// The storage of the box is retained since an update that no controller has seen.
func TestDeletionWaitsForRetainedClaims(t *testing.T) {
	t.Parallel()
	update := func(t *testing.T, storage *Storage, box *model.ModelBox) {
		t.Helper()
		if _, _, err := storage.ModelBox.Update(inDefault(t), box.Name, rest.DefaultUpdatedObjectInfo(box), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name      string
		options   metav1.DeleteOptions
		change    func(t *testing.T, storage *Storage, box *model.ModelBox)
		isRefused bool
	}{
		{"they are not released", metav1.DeleteOptions{}, nil, true},
		{"nothing is deleted with the box", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}, nil, false},
		{"they are not retained again", metav1.DeleteOptions{}, func(t *testing.T, storage *Storage, box *model.ModelBox) {
			withVolume(false)(box)
			update(t, storage, box)
		}, false},
		{"they are released", metav1.DeleteOptions{}, func(t *testing.T, storage *Storage, box *model.ModelBox) {
			box.Status.UnreleasedStorage = nil
			if _, _, err := storage.Status.Update(inDefault(t), box.Name, rest.DefaultUpdatedObjectInfo(box), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		for name, remove := range map[string]func(storage *Storage) error{
			"one": func(storage *Storage) error {
				_, _, err := storage.ModelBox.Delete(inDefault(t), "web", rest.ValidateAllObjectFunc, row.options.DeepCopy())
				return err
			},
			"all": func(storage *Storage) error {
				_, err := storage.ModelBox.DeleteCollection(inDefault(t), rest.ValidateAllObjectFunc, row.options.DeepCopy(), &metainternalversion.ListOptions{})
				return err
			},
		} {
			t.Run(row.name+", "+name, func(t *testing.T) {
				t.Parallel()
				storage := newStorage(t)
				box := create(t, storage, newBox(withVolume(false)))
				withVolume(true)(box)
				update(t, storage, box)
				if row.change != nil {
					row.change(t, storage, get(t, storage))
				}
				err := remove(storage)
				if !row.isRefused {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "the claims of storage data would be deleted, which is retained") {
					t.Errorf("got error %v", err)
				}
				get(t, storage)
			})
		}
	}
}
