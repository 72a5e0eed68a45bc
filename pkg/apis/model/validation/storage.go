// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateStorage validates the persistent volumes of a box.
func validateStorage(spec *model.ModelBoxSpec, specPath *field.Path) field.ErrorList {
	path := specPath.Child("storage")
	if len(spec.Storage) > 0 && spec.Workload == model.WorkloadDaemonSet {
		return field.ErrorList{field.Forbidden(path, mustNotUseStorageWithDaemonSet)}
	}
	var errs field.ErrorList
	names, mountPaths := volumesBesideStorage(spec, specPath)
	for i := range validate.Each(spec.Storage, &errs) {
		storage, storagePath := &spec.Storage[i], path.Index(i)
		errs = append(errs, slices.Concat(
			names.Add(storage.Name, storagePath.Child("name")),
			corevalidation.ValidateMountPath(storage.MountPath, storagePath.Child("mountPath")),
			mountPaths.Add(storage.MountPath, storagePath.Child("mountPath")),
			validateStorageSize(storage.RequestedSize, storagePath.Child("size")),
			corevalidation.ValidateStorageClassName(storage.StorageClassName, storagePath.Child("storageClassName")),
			corevalidation.ValidateAccessModes(storage.AccessModes, storagePath.Child("accessModes")),
			validatePodsOfStorage(spec, storage, storagePath.Child("accessModes")),
			validateStorageRetain(spec, storage, storagePath.Child("retain")),
		)...)
	}
	return errs
}

// volumesBesideStorage returns the names of all other volumes of the pods, and the paths where the main container mounts them.
func volumesBesideStorage(spec *model.ModelBoxSpec, path *field.Path) (names, mountPaths validate.Unique[string]) {
	names, mountPaths = validate.Unique[string]{}, validate.Unique[string]{}
	for i := range spec.Volumes {
		names.Add(spec.Volumes[i].Name, path.Child("volumes").Index(i).Child("name"))
	}
	if spec.PodTemplate != nil {
		for i := range spec.PodTemplate.Spec.Volumes {
			names.Add(spec.PodTemplate.Spec.Volumes[i].Name, path.Child("podTemplate", "spec", "volumes").Index(i).Child("name"))
		}
	}
	for i := range spec.VolumeMounts {
		mountPaths.Add(spec.VolumeMounts[i].MountPath, path.Child("volumeMounts").Index(i).Child("mountPath"))
	}
	return names, mountPaths
}

func validateStorageSize(size resource.Quantity, path *field.Path) field.ErrorList {
	if size == (resource.Quantity{}) {
		return field.ErrorList{field.Required(path, mustHaveSize)}
	}
	return corevalidation.ValidateStorageSize(size, path)
}

// validatePodsOfStorage refuses a volume for a single pod in a box with several pods. The pods of a StatefulSet share no volume.
func validatePodsOfStorage(spec *model.ModelBoxSpec, storage *model.ModelBoxStorage, path *field.Path) field.ErrorList {
	if spec.Workload != model.WorkloadDeployment || !slices.Contains(storage.AccessModes, corev1.ReadWriteOncePod) {
		return nil
	}
	if replicas := ptr.Deref(spec.Replicas, 1); replicas > 1 {
		return field.ErrorList{field.Forbidden(path, mustNotShareClaim("replicas", replicas))}
	}
	if autoscaling := spec.Autoscaling; autoscaling != nil && autoscaling.MaxReplicas > 1 {
		return field.ErrorList{field.Forbidden(path, mustNotShareClaim("autoscaling.maxReplicas", autoscaling.MaxReplicas))}
	}
	return nil
}

// validateStorageRetain requires the same value for all storage of a StatefulSet, which has one policy for all its claims.
func validateStorageRetain(spec *model.ModelBoxSpec, storage *model.ModelBoxStorage, path *field.Path) field.ErrorList {
	retain := ptr.Deref(storage.Retain, true)
	if spec.Workload != model.WorkloadStatefulSet || retain == ptr.Deref(spec.Storage[0].Retain, true) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, retain, mustRetainAllOrNone)}
}

// validateStorageUpdate refuses changes that the cluster refuses for a PersistentVolumeClaim. The admission plugin claimresize
// validates the size, because it knows the requests of the claims.
func validateStorageUpdate(spec, old *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	path = path.Child("storage")
	var errs field.ErrorList
	for i := range validate.Each(spec.Storage, &errs) {
		storage, storagePath := &spec.Storage[i], path.Index(i)
		before := findStorage(old.Storage, storage.Name)
		if before == nil {
			continue
		}
		errs = append(errs, slices.Concat(
			apivalidation.ValidateImmutableField(storage.StorageClassName, before.StorageClassName, storagePath.Child("storageClassName")),
			apivalidation.ValidateImmutableField(storage.AccessModes, before.AccessModes, storagePath.Child("accessModes")),
		)...)
	}
	return errs
}

// findStorage returns the storage of that name, nil for none.
func findStorage(all []model.ModelBoxStorage, name string) *model.ModelBoxStorage {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}

// storageVolumes returns the volumes of the storage.
func storageVolumes(spec *model.ModelBoxSpec) []corev1.Volume {
	volumes := make([]corev1.Volume, 0, len(spec.Storage))
	for i := range spec.Storage {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}
		volumes = append(volumes, corev1.Volume{Name: spec.Storage[i].Name, VolumeSource: source})
	}
	return volumes
}
