// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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

// ValidateVolumes returns what is wrong with the volumes of a pod.
func ValidateVolumes(volumes []corev1.Volume, path *field.Path) field.ErrorList {
	errs := ValidateVolumeNames(volumes, path)
	for i := range validate.Each(volumes, &errs) {
		volume, volumePath := &volumes[i], path.Index(i)
		errs = append(errs, validateVolumeSource(&volume.VolumeSource, volumePath)...)
		errs = append(errs, validateISCSISession(volume, volumePath)...)
	}
	return errs
}

// ValidateVolumeNames requires one name for each volume.
func ValidateVolumeNames(volumes []corev1.Volume, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := validate.Unique[string]{}
	for i := range validate.Each(volumes, &errs) {
		name, namePath := volumes[i].Name, path.Index(i).Child("name")
		errs = append(errs, validate.Format(name, validation.IsDNS1123Label, namePath)...)
		errs = append(errs, names.Add(name, namePath)...)
	}
	return errs
}

// validateVolumeSource allows one source. A volume without any is an emptyDir, as in a Pod.
func validateVolumeSource(source *corev1.VolumeSource, path *field.Path) field.ErrorList {
	return validate.AtMostOneOf([]validate.Member{
		validate.MemberOf("emptyDir", source.EmptyDir, validateEmptyDirVolumeSource),
		validate.MemberOf("hostPath", source.HostPath, validateHostPathVolumeSource),
		validate.MemberOf("configMap", source.ConfigMap, validateConfigMapVolumeSource),
		validate.MemberOf("secret", source.Secret, validateSecretVolumeSource),
		validate.MemberOf("downwardAPI", source.DownwardAPI, validateDownwardAPIVolumeSource),
		validate.MemberOf("projected", source.Projected, validateProjectedVolumeSource),
		validate.MemberOf("persistentVolumeClaim", source.PersistentVolumeClaim, validatePersistentVolumeClaimVolumeSource),
		validate.MemberOf("ephemeral", source.Ephemeral, validateEphemeralVolumeSource),
		validate.MemberOf("csi", source.CSI, validateCSIVolumeSource),
		validate.MemberOf("image", source.Image, validateImageVolumeSource),
		validate.MemberOf("nfs", source.NFS, validateNFSVolumeSource),
		validate.MemberOf("iscsi", source.ISCSI, validateISCSIVolumeSource),
		validate.MemberOf("fc", source.FC, validateFCVolumeSource),
		validate.MemberOf("gitRepo", source.GitRepo, validateGitRepoVolumeSource),
		validate.MemberOf("gcePersistentDisk", source.GCEPersistentDisk, validateGCEPersistentDiskVolumeSource),
		validate.MemberOf("awsElasticBlockStore", source.AWSElasticBlockStore, validateAWSElasticBlockStoreVolumeSource),
		validate.MemberOf("azureDisk", source.AzureDisk, validateAzureDiskVolumeSource),
		validate.MemberOf("azureFile", source.AzureFile, validateAzureFileVolumeSource),
		validate.MemberOf("glusterfs", source.Glusterfs, validateGlusterfsVolumeSource),
		validate.MemberOf("rbd", source.RBD, validateRBDVolumeSource),
		validate.MemberOf("cephfs", source.CephFS, validateCephFSVolumeSource),
		validate.MemberOf("cinder", source.Cinder, validateCinderVolumeSource),
		validate.MemberOf("flexVolume", source.FlexVolume, validateFlexVolumeSource),
		validate.MemberOf("flocker", source.Flocker, validateFlockerVolumeSource),
		validate.MemberOf("vsphereVolume", source.VsphereVolume, validateVsphereVolumeSource),
		validate.MemberOf("quobyte", source.Quobyte, validateQuobyteVolumeSource),
		validate.MemberOf("photonPersistentDisk", source.PhotonPersistentDisk, validatePhotonPersistentDiskVolumeSource),
		validate.MemberOf("portworxVolume", source.PortworxVolume, validatePortworxVolumeSource),
		validate.MemberOf("scaleIO", source.ScaleIO, validateScaleIOVolumeSource),
		validate.MemberOf("storageos", source.StorageOS, validateStorageOSVolumeSource),
	}, path)
}

func isEmptyDir(source *corev1.VolumeSource) bool {
	return source.EmptyDir != nil || *source == corev1.VolumeSource{}
}
