// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func TestRollbackDeletesStorageOnRequestOnly(t *testing.T) {
	t.Parallel()
	withoutVolume := func(box *model.ModelBox) { box.Spec.Storage = nil }
	for _, row := range []struct {
		name          string
		box           func(*model.ModelBox)
		deleteStorage bool
		isRefused     bool
	}{
		{"of storage that is not retained", withVolume(false), false, true},
		{"of storage that is not retained, on request", withVolume(false), true, false},
		{"of storage that is retained", withVolume(true), false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			storage := newStorage(t)
			before := create(t, storage, newBox(row.box))
			for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
				rollback, _ := newRollback(storage, nil, revisionOf(t, before, 1, withoutVolume), revisionOf(t, before, 2))
				_, err := rollback.Create(asAnna(t), "web", &model.ModelBoxRollback{DeleteStorage: row.deleteStorage}, nil, &metav1.CreateOptions{DryRun: dryRun})
				if !row.isRefused {
					if err != nil {
						t.Errorf("dry run %v: %v", dryRun, err)
					}
					continue
				}
				const want = "a rollback would delete PersistentVolumeClaim web-data and its data; retain the storage, or set deleteStorage (kubectl modelbox rollback --delete-storage)"
				if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), want) {
					t.Errorf("dry run %v: got error %v, want %s", dryRun, err, want)
				}
			}
		})
	}
}
