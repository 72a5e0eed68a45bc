// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	mountPropagationModes = []corev1.MountPropagationMode{
		corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional,
	}
	recursiveReadOnlyModes = []corev1.RecursiveReadOnlyMode{
		corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyIfPossible, corev1.RecursiveReadOnlyEnabled,
	}
	windowsDrive = regexp.MustCompile(`^[a-zA-Z]:`)
)

// validateVolumeMounts validates the volume mounts of a container, at path.
func validateVolumeMounts(container *corev1.Container, volumes volumeSources, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	mountPaths := unique[string]{}
	for i := range container.VolumeMounts {
		mount, mountPath := &container.VolumeMounts[i], path.Index(i)
		errs = append(errs, slices.Concat(
			volumes.validateName(mount.Name, mountPath.Child("name")),
			validateMountPath(mount.MountPath, mountPath.Child("mountPath")),
			mountPaths.add(mount.MountPath, mountPath.Child("mountPath")),
			validateSubPath(mount, mountPath),
			validateMountPropagation(mount.MountPropagation, container.SecurityContext, mountPath.Child("mountPropagation")),
			validateRecursiveReadOnly(mount, mountPath.Child("recursiveReadOnly")),
		)...)
	}
	return errs
}

func validateMountPath(mountPath string, path *field.Path) field.ErrorList {
	if strings.Contains(windowsDrive.ReplaceAllString(mountPath, ""), ":") {
		return field.ErrorList{field.Invalid(path, mountPath, "must not contain ':'")}
	}
	return validateRequired(mountPath, path, `must be the path in the container, such as "/data"`)
}

func validateSubPath(mount *corev1.VolumeMount, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateRelativePath(mount.SubPath, path.Child("subPath")),
		validateRelativePath(mount.SubPathExpr, path.Child("subPathExpr")),
	)
	if mount.SubPath != "" && mount.SubPathExpr != "" {
		errs = append(errs, field.Forbidden(path.Child("subPathExpr"), "only one may be given, and subPath is"))
	}
	return errs
}

func validateMountPropagation(mode *corev1.MountPropagationMode, context *corev1.SecurityContext, path *field.Path) field.ErrorList {
	if mode == nil {
		return nil
	}
	if *mode == corev1.MountPropagationBidirectional && !isPrivileged(context) {
		return field.ErrorList{field.Forbidden(path, "Bidirectional needs a container whose securityContext has privileged true")}
	}
	return validateChoice(*mode, mountPropagationModes, path)
}

func validateRecursiveReadOnly(mount *corev1.VolumeMount, path *field.Path) field.ErrorList {
	if mount.RecursiveReadOnly == nil || *mount.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	errs := validateChoice(*mount.RecursiveReadOnly, recursiveReadOnlyModes, path)
	if len(errs) > 0 {
		return errs
	}
	if !mount.ReadOnly {
		errs = append(errs, field.Forbidden(path, "needs readOnly true"))
	}
	if mode := mount.MountPropagation; mode != nil && *mode != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(path, "needs mountPropagation None, or none"))
	}
	return errs
}

// validateVolumeDevices validates the block devices of a container, at path.
func validateVolumeDevices(container *corev1.Container, volumes volumeSources, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names, devicePaths := unique[string]{}, unique[string]{}
	for i := range container.VolumeDevices {
		device, devicePath := &container.VolumeDevices[i], path.Index(i)
		errs = append(errs, slices.Concat(
			volumes.validateBlockVolume(device.Name, devicePath.Child("name")),
			names.add(device.Name, devicePath.Child("name")),
			validateRequired(device.DevicePath, devicePath.Child("devicePath"), `must be the path in the container, such as "/dev/xvda"`),
			validateNoBacksteps(device.DevicePath, devicePath.Child("devicePath")),
			devicePaths.add(device.DevicePath, devicePath.Child("devicePath")),
			validateNotMounted(device, container.VolumeMounts, devicePath),
		)...)
	}
	return errs
}

func (v volumeSources) validateBlockVolume(name string, path *field.Path) field.ErrorList {
	if errs := v.validateName(name, path); len(errs) > 0 {
		return errs
	}
	if v[name].PersistentVolumeClaim == nil && v[name].Ephemeral == nil {
		return field.ErrorList{field.Invalid(path, name, "must be a persistentVolumeClaim or ephemeral volume")}
	}
	return nil
}

func validateNotMounted(device *corev1.VolumeDevice, mounts []corev1.VolumeMount, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range mounts {
		if device.Name != "" && mounts[i].Name == device.Name {
			errs = append(errs, field.Invalid(path.Child("name"), device.Name, "must not be in volumeMounts as well"))
		}
		if device.DevicePath != "" && mounts[i].MountPath == device.DevicePath {
			errs = append(errs, field.Invalid(path.Child("devicePath"), device.DevicePath, "must not be in volumeMounts as well"))
		}
	}
	return errs
}
