// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const maxCSIDriverNameLength = 63

var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate, corev1.HostPathFile,
	corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev,
}

func validateEmptyDirVolumeSource(source *corev1.EmptyDirVolumeSource, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	if source.SizeLimit != nil && source.SizeLimit.Sign() < 0 {
		errs = append(errs, field.Invalid(fldPath.Child("sizeLimit"), source.SizeLimit.String(), "must be greater than or equal to 0"))
	}
	if mode := source.Mode; mode != nil && (*mode < 0 || *mode > maxDirectoryMode) {
		errs = append(errs, field.Invalid(fldPath.Child("mode"), *mode, "must be a number between 0 and 01777 (octal), both inclusive"))
	}
	return errs
}

func validateHostPathVolumeSource(source *corev1.HostPathVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Required(source.Path, fldPath.Child("path"), "must be a path on the node"),
		validateNoBacksteps(source.Path, fldPath.Child("path")),
	)
	if source.Type != nil {
		errs = append(errs, validate.OptionalEnum(*source.Type, hostPathTypes, fldPath.Child("type"))...)
	}
	return errs
}

func validateConfigMapVolumeSource(source *corev1.ConfigMapVolumeSource, fldPath *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(source.Name, validation.IsDNS1123Subdomain, fldPath.Child("name")),
		validateFileMode(source.DefaultMode, fldPath.Child("defaultMode")),
		validateUserID(source.DefaultUser, fldPath.Child("defaultUser")),
		validateKeyPaths(source.Items, fldPath.Child("items")),
	)
}

func validateSecretVolumeSource(source *corev1.SecretVolumeSource, fldPath *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(source.SecretName, validation.IsDNS1123Subdomain, fldPath.Child("secretName")),
		validateFileMode(source.DefaultMode, fldPath.Child("defaultMode")),
		validateUserID(source.DefaultUser, fldPath.Child("defaultUser")),
		validateKeyPaths(source.Items, fldPath.Child("items")),
	)
}

func validateKeyPaths(items []corev1.KeyToPath, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(items, &errs) {
		item, itemPath := &items[i], fldPath.Index(i)
		errs = append(errs, slices.Concat(
			validate.Required(item.Key, itemPath.Child("key"), "must be a key of the object"),
			validateFilePath(item.Path, itemPath.Child("path")),
			validateFileMode(item.Mode, itemPath.Child("mode")),
			validateUserID(item.User, itemPath.Child("user")),
		)...)
	}
	return errs
}

func validateDownwardAPIVolumeSource(source *corev1.DownwardAPIVolumeSource, fldPath *field.Path) field.ErrorList {
	return slices.Concat(
		validateFileMode(source.DefaultMode, fldPath.Child("defaultMode")),
		validateUserID(source.DefaultUser, fldPath.Child("defaultUser")),
		validateDownwardAPIFiles(source.Items, fldPath.Child("items")),
	)
}

func validateDownwardAPIFiles(files []corev1.DownwardAPIVolumeFile, fldPath *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(files, &errs) {
		file, filePath := &files[i], fldPath.Index(i)
		errs = append(errs, slices.Concat(
			validateFilePath(file.Path, filePath.Child("path")),
			validate.ExactlyOneOf([]validate.Member{
				validate.MemberOf("fieldRef", file.FieldRef, validateVolumeObjectFieldSelector),
				validate.MemberOf("resourceFieldRef", file.ResourceFieldRef, validateVolumeResourceFieldSelector),
			}, filePath),
			validateFileMode(file.Mode, filePath.Child("mode")),
			validateUserID(file.User, filePath.Child("user")),
		)...)
	}
	return errs
}

func validatePersistentVolumeClaimVolumeSource(source *corev1.PersistentVolumeClaimVolumeSource, fldPath *field.Path) field.ErrorList {
	return validate.Format(source.ClaimName, validation.IsDNS1123Subdomain, fldPath.Child("claimName"))
}

func validateCSIVolumeSource(source *corev1.CSIVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := validate.Format(strings.ToLower(source.Driver), validation.IsDNS1123Subdomain, fldPath.Child("driver"))
	if len(source.Driver) > maxCSIDriverNameLength {
		errs = append(errs, field.TooLong(fldPath.Child("driver"), source.Driver, maxCSIDriverNameLength))
	}
	if secret := source.NodePublishSecretRef; secret != nil {
		errs = append(errs, validate.Format(secret.Name, validation.IsDNS1123Subdomain, fldPath.Child("nodePublishSecretRef", "name"))...)
	}
	return errs
}

// validateImageVolumeSource requires a reference as the Pod API does: a Deployment takes none, its pods do not.
func validateImageVolumeSource(source *corev1.ImageVolumeSource, fldPath *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Required(source.Reference, fldPath.Child("reference"), "must name an image or artifact"),
		validate.OptionalEnum(source.PullPolicy, pullPolicies, fldPath.Child("pullPolicy")),
	)
}

func validateNFSVolumeSource(source *corev1.NFSVolumeSource, fldPath *field.Path) field.ErrorList {
	errs := slices.Concat(
		validate.Required(source.Server, fldPath.Child("server"), "must be the name or address of the NFS server"),
		validate.Required(source.Path, fldPath.Child("path"), "must be a path that the NFS server exports"),
	)
	if source.Path != "" && !path.IsAbs(source.Path) {
		errs = append(errs, field.Invalid(fldPath.Child("path"), source.Path, "must be an absolute path: it must start with '/'"))
	}
	return errs
}
