// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// storageWarnings warns about volumes that several pods of a Deployment share although their access mode does not allow it.
func storageWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	if spec.Workload != model.WorkloadDeployment {
		return nil
	}
	var warnings []string
	for i := range spec.Storage {
		modesPath := path.Child("storage").Index(i).Child("accessModes")
		mode, ok := exclusiveAccessMode(spec.Storage[i].AccessModes)
		switch {
		case !ok:
		case mostPods(spec) > 1:
			warnings = append(warnings, fmt.Sprintf("%s: %s", modesPath, warn.SharedVolume(string(mode), mostPods(spec))))
		case spec.Strategy == model.StrategyRollingUpdate && mode == corev1.ReadWriteOncePod:
			warnings = append(warnings, fmt.Sprintf("%s: %s", modesPath, warn.VolumeNotReleased(string(mode))))
		case spec.Strategy == model.StrategyRollingUpdate:
			warnings = append(warnings, fmt.Sprintf("%s: %s", modesPath, warn.VolumeOnOneNode(string(mode))))
		}
	}
	return warnings
}

// exclusiveAccessMode returns the mode that limits a volume to one node or one pod. It returns false if another mode allows several
// nodes.
func exclusiveAccessMode(modes []corev1.PersistentVolumeAccessMode) (corev1.PersistentVolumeAccessMode, bool) {
	isExclusive := func(mode corev1.PersistentVolumeAccessMode) bool {
		return mode == corev1.ReadWriteOnce || mode == corev1.ReadWriteOncePod
	}
	i := slices.IndexFunc(modes, isExclusive)
	if i < 0 || slices.ContainsFunc(modes, func(mode corev1.PersistentVolumeAccessMode) bool { return !isExclusive(mode) }) {
		return "", false
	}
	return modes[i], true
}

// storageUpdateWarnings warns about the effects of an update on claims, and on a StatefulSet, whose claim templates cannot change.
func storageUpdateWarnings(box, old *model.ModelBox) []string {
	when := ""
	if box.Spec.Paused {
		when = " when the box is unpaused"
	}
	var warnings []string
	changesTemplates := len(box.Spec.Storage) != len(old.Spec.Storage)
	for i := range old.Spec.Storage {
		before := &old.Spec.Storage[i]
		after := findStorage(&box.Spec, before.Name)
		if after == nil {
			warnings = append(warnings, removedStorageWarning(old, before, when))
		}
		changesTemplates = changesTemplates || after == nil || after.RequestedSize.Cmp(before.RequestedSize) != 0
	}
	if changesTemplates && box.Spec.Workload == model.WorkloadStatefulSet {
		warnings = append(warnings, "spec.storage: "+warn.ClaimTemplatesChange(box.Name, when))
	}
	return warnings
}

// removedStorageWarning says whether the claims of storage that the update removes are deleted.
func removedStorageWarning(old *model.ModelBox, storage *model.ModelBoxStorage, when string) string {
	claims := claimsOf(old, storage) + " is"
	if old.Spec.Workload == model.WorkloadStatefulSet {
		claims = claimsOf(old, storage) + " are"
	}
	if ptr.Deref(storage.Retain, true) {
		return "spec.storage: " + warn.ClaimsStay(claims)
	}
	return "spec.storage: " + warn.ClaimsDeleted(claims, when)
}

// DiscardedClaims names the claims that an update of old to box deletes with their data.
func DiscardedClaims(box, old *model.ModelBox) []string {
	var claims []string
	for i := range old.Spec.Storage {
		storage := &old.Spec.Storage[i]
		if findStorage(&box.Spec, storage.Name) == nil && !ptr.Deref(storage.Retain, true) {
			claims = append(claims, claimsOf(old, storage))
		}
	}
	return claims
}

// claimsOf names the claims of storage of the box.
func claimsOf(box *model.ModelBox, storage *model.ModelBoxStorage) string {
	if box.Spec.Workload == model.WorkloadStatefulSet {
		return fmt.Sprintf("PersistentVolumeClaims %s-%s-<ordinal>", storage.Name, box.Name)
	}
	return "PersistentVolumeClaim " + helper.ClaimName(box.Name, storage.Name)
}

func findStorage(spec *model.ModelBoxSpec, name string) *model.ModelBoxStorage {
	i := slices.IndexFunc(spec.Storage, func(storage model.ModelBoxStorage) bool { return storage.Name == name })
	if i < 0 {
		return nil
	}
	return &spec.Storage[i]
}
