// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// The volume sources of single storage providers. CSI drivers have taken the place of most; the API still has them.

const maxPartition = 255

func validatePartition(partition int32, path *field.Path) field.ErrorList {
	return validate.Invalid(path, partition, validation.IsInRange(int(partition), 0, maxPartition))
}

func validateGitRepoVolumeSource(source *corev1.GitRepoVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.Repository, path.Child("repository"), "must be the URL of a repository"),
		validateRelativePath(source.Directory, path.Child("directory")),
	)
}

func validateGCEPersistentDiskVolumeSource(source *corev1.GCEPersistentDiskVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.PDName, path.Child("pdName"), "must name a disk"),
		validatePartition(source.Partition, path.Child("partition")),
	)
}

func validateAWSElasticBlockStoreVolumeSource(source *corev1.AWSElasticBlockStoreVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.VolumeID, path.Child("volumeID"), "must be the ID of a volume"),
		validatePartition(source.Partition, path.Child("partition")),
	)
}

func validateAzureFileVolumeSource(source *corev1.AzureFileVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.SecretName, path.Child("secretName"), "must name the Secret with the account and its key"),
		validate.Required(source.ShareName, path.Child("shareName"), "must name a share"),
	)
}

func validateGlusterfsVolumeSource(source *corev1.GlusterfsVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.EndpointsName, path.Child("endpoints"), "must name the Endpoints of the cluster"),
		validate.Required(source.Path, path.Child("path"), "must name a Glusterfs volume"),
	)
}

func validateRBDVolumeSource(source *corev1.RBDVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateMonitors(source.CephMonitors, path.Child("monitors")),
		validate.Required(source.RBDImage, path.Child("image"), "must name an RBD image"),
	)
}

func validateCephFSVolumeSource(source *corev1.CephFSVolumeSource, path *field.Path) field.ErrorList {
	return validateMonitors(source.Monitors, path.Child("monitors"))
}

func validateMonitors(monitors []string, path *field.Path) field.ErrorList {
	if len(monitors) > 0 {
		return nil
	}
	return field.ErrorList{field.Required(path, "must have a Ceph monitor")}
}

func validateCinderVolumeSource(source *corev1.CinderVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.VolumeID, path.Child("volumeID"), "must be the ID of a volume"),
		validateSecretName(source.SecretRef, path.Child("secretRef", "name")),
	)
}

func validateSecretName(ref *corev1.LocalObjectReference, path *field.Path) field.ErrorList {
	if ref == nil {
		return nil
	}
	return validate.Required(ref.Name, path, "must name a Secret")
}

func validateFlexVolumeSource(source *corev1.FlexVolumeSource, path *field.Path) field.ErrorList {
	errs := validate.Required(source.Driver, path.Child("driver"), "must name a driver")
	for _, key := range validate.Each(slices.Sorted(maps.Keys(source.Options)), &errs) {
		namespace, _, _ := strings.Cut(key, "/")
		namespace = "." + strings.ToLower(namespace)
		if strings.HasSuffix(namespace, ".kubernetes.io") || strings.HasSuffix(namespace, ".k8s.io") {
			errs = append(errs, field.Invalid(path.Child("options").Key(key), key, "must not be in kubernetes.io or k8s.io"))
		}
	}
	return errs
}

func validateFlockerVolumeSource(source *corev1.FlockerVolumeSource, path *field.Path) field.ErrorList {
	errs := validate.ExactlyOneOf([]validate.Member{
		{Name: "datasetName", Set: source.DatasetName != ""}, {Name: "datasetUUID", Set: source.DatasetUUID != ""},
	}, path)
	if strings.Contains(source.DatasetName, "/") {
		errs = append(errs, field.Invalid(path.Child("datasetName"), source.DatasetName, "must not contain '/'"))
	}
	return errs
}

func validateVsphereVolumeSource(source *corev1.VsphereVirtualDiskVolumeSource, path *field.Path) field.ErrorList {
	return validate.Required(source.VolumePath, path.Child("volumePath"), "must be the path of a volume")
}

func validatePhotonPersistentDiskVolumeSource(source *corev1.PhotonPersistentDiskVolumeSource, path *field.Path) field.ErrorList {
	return validate.Required(source.PdID, path.Child("pdID"), "must be the ID of a disk")
}

func validatePortworxVolumeSource(source *corev1.PortworxVolumeSource, path *field.Path) field.ErrorList {
	return validate.Required(source.VolumeID, path.Child("volumeID"), "must be the ID of a volume")
}

func validateScaleIOVolumeSource(source *corev1.ScaleIOVolumeSource, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.Gateway, path.Child("gateway"), "must be the address of the gateway"),
		validate.Required(source.System, path.Child("system"), "must name the storage system"),
		validate.Required(source.VolumeName, path.Child("volumeName"), "must name a volume"),
	)
}

func validateStorageOSVolumeSource(source *corev1.StorageOSVolumeSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Format(source.VolumeName, validation.IsDNS1123Label, path.Child("volumeName")),
		validateSecretName(source.SecretRef, path.Child("secretRef", "name")),
	)
	if source.VolumeNamespace != "" {
		errs = append(errs, validate.Format(source.VolumeNamespace, validation.IsDNS1123Label, path.Child("volumeNamespace"))...)
	}
	return errs
}

const (
	maxQuobyteTenantLength = 64
	quobyteRegistryRule    = "must be host:port, or several separated by commas"
)

func validateQuobyteVolumeSource(source *corev1.QuobyteVolumeSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Required(source.Registry, path.Child("registry"), quobyteRegistryRule),
		validate.Required(source.Volume, path.Child("volume"), "must name a volume"),
	)
	if len(source.Tenant) > maxQuobyteTenantLength {
		errs = append(errs, field.TooLong(path.Child("tenant"), source.Tenant, maxQuobyteTenantLength))
	}
	for _, address := range validate.Each(strings.Split(source.Registry, ","), &errs) {
		if _, _, err := net.SplitHostPort(address); err != nil && source.Registry != "" {
			return append(errs, field.Invalid(path.Child("registry"), source.Registry, quobyteRegistryRule))
		}
	}
	return errs
}
