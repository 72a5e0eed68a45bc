// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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
