// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const maxPartition = 255

const (
	maxQuobyteTenantLength = 64
	quobyteRegistryRule    = "must be host:port, or several separated by commas"
)

const (
	maxLUN                = 255
	maxISCSISessionLength = 64
	iscsiNameRule         = `must be an iSCSI name, such as "iqn.2024-01.com.example:storage", "eui." with 16 or "naa." with 32 characters`
)

var (
	iscsiName = regexp.MustCompile(`^(iqn\.\d{4}-\d{2}\.[[:alnum:]-.]+:[^,;*&$|\s]+|eui\.[[:alnum:]]{16}|naa\.[[:alnum:]]{32})$`)

	azureCachingModes = []corev1.AzureDataDiskCachingMode{
		corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite,
	}
	azureDiskKinds = []corev1.AzureDataDiskKind{
		corev1.AzureSharedBlobDisk, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk,
	}
)

// The volume sources of single storage providers. CSI drivers have taken the place of most; the API still has them.

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

func validateISCSIVolumeSource(source *corev1.ISCSIVolumeSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Required(source.TargetPortal, path.Child("targetPortal"), "must be the address of the target"),
		validateISCSIName(source.IQN, path.Child("iqn")),
		validate.Invalid(path.Child("lun"), source.Lun, validation.IsInRange(int(source.Lun), 0, maxLUN)),
	)
	if source.InitiatorName != nil {
		errs = append(errs, validateISCSIName(*source.InitiatorName, path.Child("initiatorName"))...)
	}
	if (source.DiscoveryCHAPAuth || source.SessionCHAPAuth) && source.SecretRef == nil {
		errs = append(errs, field.Required(path.Child("secretRef"), "must name the Secret for CHAP authentication"))
	}
	return errs
}

func validateISCSIName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, iscsiNameRule)}
	}
	if !iscsiName.MatchString(name) {
		return field.ErrorList{field.Invalid(path, name, iscsiNameRule)}
	}
	return nil
}

// validateISCSISession limits the name of the interface that the kubelet makes for an initiator.
func validateISCSISession(volume *corev1.Volume, path *field.Path) field.ErrorList {
	source := volume.ISCSI
	if source == nil || source.InitiatorName == nil || len(volume.Name+":"+source.TargetPortal) <= maxISCSISessionLength {
		return nil
	}
	detail := fmt.Sprintf("must have at most %d characters together with ':' and iscsi.targetPortal, because iscsi.initiatorName is given",
		maxISCSISessionLength)
	return field.ErrorList{field.Invalid(path.Child("name"), volume.Name, detail)}
}

func validateFCVolumeSource(source *corev1.FCVolumeSource, path *field.Path) field.ErrorList {
	validateLUN := func(*field.Path) field.ErrorList { return validateFCLUN(source.Lun, path.Child("lun")) }
	return validate.ExactlyOneOf([]validate.Member{
		{Name: "targetWWNs", Set: len(source.TargetWWNs) > 0, Validate: validateLUN}, {Name: "wwids", Set: len(source.WWIDs) > 0},
	}, path)
}

func validateFCLUN(lun *int32, path *field.Path) field.ErrorList {
	if lun == nil {
		return field.ErrorList{field.Required(path, "must be given with targetWWNs")}
	}
	return validate.Invalid(path, *lun, validation.IsInRange(int(*lun), 0, maxLUN))
}

func validateAzureDiskVolumeSource(source *corev1.AzureDiskVolumeSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Required(source.DiskName, path.Child("diskName"), "must name a disk"),
		validateAzureDiskURI(source, path.Child("diskURI")),
	)
	errs = append(errs, validate.EnumPointer(source.CachingMode, azureCachingModes, path.Child("cachingMode"))...)
	errs = append(errs, validate.EnumPointer(source.Kind, azureDiskKinds, path.Child("kind"))...)
	return errs
}

// validateAzureDiskURI takes a disk without a kind for a Shared one, as the Pod API does.
func validateAzureDiskURI(source *corev1.AzureDiskVolumeSource, path *field.Path) field.ErrorList {
	start := "https://"
	if source.Kind != nil && *source.Kind == corev1.AzureManagedDisk {
		start = "/subscriptions/"
	}
	if source.DataDiskURI == "" {
		return field.ErrorList{field.Required(path, "must start with "+start)}
	}
	if !strings.HasPrefix(source.DataDiskURI, start) {
		return field.ErrorList{field.Invalid(path, source.DataDiskURI, "must start with "+start+" for this kind of disk")}
	}
	return nil
}
