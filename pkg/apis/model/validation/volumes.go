// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// volumeSources are the volumes of a box by name.
type volumeSources map[string]*corev1.VolumeSource

func volumesByName(volumes []corev1.Volume) volumeSources {
	sources := volumeSources{}
	for i := range volumes {
		sources[volumes[i].Name] = &volumes[i].VolumeSource
	}
	delete(sources, "")
	return sources
}

// validateName requires the name of one of the volumes.
func (v volumeSources) validateName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "must be the name of one of spec.volumes")}
	}
	if v[name] == nil {
		missing := field.NotFound(path, name)
		missing.Detail = "must be the name of one of spec.volumes"
		return field.ErrorList{missing}
	}
	return nil
}

func validateVolumes(volumes []corev1.Volume, path *field.Path) field.ErrorList {
	errs := validateVolumeNames(volumes, path)
	for i := range each(volumes, &errs) {
		volume, volumePath := &volumes[i], path.Index(i)
		errs = append(errs, validateVolumeSource(&volume.VolumeSource, volumePath)...)
		errs = append(errs, validateISCSISession(volume, volumePath)...)
	}
	return errs
}

// validateVolumeNames requires one name for each volume.
func validateVolumeNames(volumes []corev1.Volume, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := unique[string]{}
	for i := range each(volumes, &errs) {
		name, namePath := volumes[i].Name, path.Index(i).Child("name")
		errs = append(errs, validateFormat(name, validation.IsDNS1123Label, namePath)...)
		errs = append(errs, names.add(name, namePath)...)
	}
	return errs
}

// validateVolumeSource allows one source. A volume without any is an emptyDir, as in a Pod.
func validateVolumeSource(source *corev1.VolumeSource, path *field.Path) field.ErrorList {
	return validateAtMostOne([]member{
		oneOf("emptyDir", source.EmptyDir, validateEmptyDir),
		oneOf("hostPath", source.HostPath, validateHostPath),
		oneOf("configMap", source.ConfigMap, validateConfigMapVolume),
		oneOf("secret", source.Secret, validateSecretVolume),
		oneOf("downwardAPI", source.DownwardAPI, validateDownwardAPIVolume),
		oneOf("projected", source.Projected, validateProjectedVolume),
		oneOf("persistentVolumeClaim", source.PersistentVolumeClaim, validatePersistentVolumeClaim),
		oneOf("ephemeral", source.Ephemeral, validateEphemeralVolume),
		oneOf("csi", source.CSI, validateCSIVolume),
		oneOf("image", source.Image, validateImageVolume),
		oneOf("nfs", source.NFS, validateNFSVolume),
		oneOf("iscsi", source.ISCSI, validateISCSIVolume),
		oneOf("fc", source.FC, validateFCVolume),
		oneOf("gitRepo", source.GitRepo, validateGitRepoVolume),
		oneOf("gcePersistentDisk", source.GCEPersistentDisk, validateGCEPersistentDisk),
		oneOf("awsElasticBlockStore", source.AWSElasticBlockStore, validateAWSElasticBlockStore),
		oneOf("azureDisk", source.AzureDisk, validateAzureDisk),
		oneOf("azureFile", source.AzureFile, validateAzureFile),
		oneOf("glusterfs", source.Glusterfs, validateGlusterfs),
		oneOf("rbd", source.RBD, validateRBD),
		oneOf("cephfs", source.CephFS, validateCephFS),
		oneOf("cinder", source.Cinder, validateCinder),
		oneOf("flexVolume", source.FlexVolume, validateFlexVolume),
		oneOf("flocker", source.Flocker, validateFlocker),
		oneOf("vsphereVolume", source.VsphereVolume, validateVsphereVolume),
		oneOf("quobyte", source.Quobyte, validateQuobyte),
		oneOf("photonPersistentDisk", source.PhotonPersistentDisk, validatePhotonPersistentDisk),
		oneOf("portworxVolume", source.PortworxVolume, validatePortworxVolume),
		oneOf("scaleIO", source.ScaleIO, validateScaleIO),
		oneOf("storageos", source.StorageOS, validateStorageOS),
	}, path)
}

func isEmptyDir(source *corev1.VolumeSource) bool {
	return source.EmptyDir != nil || *source == corev1.VolumeSource{}
}
