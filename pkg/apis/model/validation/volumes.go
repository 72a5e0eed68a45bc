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

func validateVolumes(volumes []corev1.Volume, path *field.Path) field.ErrorList {
	errs := validateVolumeNames(volumes, path)
	for i := range validate.Each(volumes, &errs) {
		volume, volumePath := &volumes[i], path.Index(i)
		errs = append(errs, validateVolumeSource(&volume.VolumeSource, volumePath)...)
		errs = append(errs, validateISCSISession(volume, volumePath)...)
	}
	return errs
}

// validateVolumeNames requires one name for each volume.
func validateVolumeNames(volumes []corev1.Volume, path *field.Path) field.ErrorList {
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
		validate.MemberOf("emptyDir", source.EmptyDir, validateEmptyDir),
		validate.MemberOf("hostPath", source.HostPath, validateHostPath),
		validate.MemberOf("configMap", source.ConfigMap, validateConfigMapVolume),
		validate.MemberOf("secret", source.Secret, validateSecretVolume),
		validate.MemberOf("downwardAPI", source.DownwardAPI, validateDownwardAPIVolume),
		validate.MemberOf("projected", source.Projected, validateProjectedVolume),
		validate.MemberOf("persistentVolumeClaim", source.PersistentVolumeClaim, validatePersistentVolumeClaim),
		validate.MemberOf("ephemeral", source.Ephemeral, validateEphemeralVolume),
		validate.MemberOf("csi", source.CSI, validateCSIVolume),
		validate.MemberOf("image", source.Image, validateImageVolume),
		validate.MemberOf("nfs", source.NFS, validateNFSVolume),
		validate.MemberOf("iscsi", source.ISCSI, validateISCSIVolume),
		validate.MemberOf("fc", source.FC, validateFCVolume),
		validate.MemberOf("gitRepo", source.GitRepo, validateGitRepoVolume),
		validate.MemberOf("gcePersistentDisk", source.GCEPersistentDisk, validateGCEPersistentDisk),
		validate.MemberOf("awsElasticBlockStore", source.AWSElasticBlockStore, validateAWSElasticBlockStore),
		validate.MemberOf("azureDisk", source.AzureDisk, validateAzureDisk),
		validate.MemberOf("azureFile", source.AzureFile, validateAzureFile),
		validate.MemberOf("glusterfs", source.Glusterfs, validateGlusterfs),
		validate.MemberOf("rbd", source.RBD, validateRBD),
		validate.MemberOf("cephfs", source.CephFS, validateCephFS),
		validate.MemberOf("cinder", source.Cinder, validateCinder),
		validate.MemberOf("flexVolume", source.FlexVolume, validateFlexVolume),
		validate.MemberOf("flocker", source.Flocker, validateFlocker),
		validate.MemberOf("vsphereVolume", source.VsphereVolume, validateVsphereVolume),
		validate.MemberOf("quobyte", source.Quobyte, validateQuobyte),
		validate.MemberOf("photonPersistentDisk", source.PhotonPersistentDisk, validatePhotonPersistentDisk),
		validate.MemberOf("portworxVolume", source.PortworxVolume, validatePortworxVolume),
		validate.MemberOf("scaleIO", source.ScaleIO, validateScaleIO),
		validate.MemberOf("storageos", source.StorageOS, validateStorageOS),
	}, path)
}

func isEmptyDir(source *corev1.VolumeSource) bool {
	return source.EmptyDir != nil || *source == corev1.VolumeSource{}
}
