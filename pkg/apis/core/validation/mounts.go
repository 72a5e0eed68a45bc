// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
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
	mountPaths := validate.Unique[string]{}
	for i := range validate.Each(container.VolumeMounts, &errs) {
		mount, mountPath := &container.VolumeMounts[i], path.Index(i)
		errs = append(errs, slices.Concat(
			volumes.validateName(mount.Name, mountPath.Child("name")),
			validateMountPath(mount.MountPath, mountPath.Child("mountPath")),
			mountPaths.Add(mount.MountPath, mountPath.Child("mountPath")),
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
	return validate.Required(mountPath, path, `must be the path in the container, such as "/data"`)
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
	return validate.Enum(*mode, mountPropagationModes, path)
}

func validateRecursiveReadOnly(mount *corev1.VolumeMount, path *field.Path) field.ErrorList {
	if mount.RecursiveReadOnly == nil || *mount.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	errs := validate.Enum(*mount.RecursiveReadOnly, recursiveReadOnlyModes, path)
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
	names, devicePaths, mounted := validate.Unique[string]{}, validate.Unique[string]{}, mountsOf(container.VolumeMounts)
	for i := range validate.Each(container.VolumeDevices, &errs) {
		device, devicePath := &container.VolumeDevices[i], path.Index(i)
		errs = append(errs, slices.Concat(
			volumes.validateBlockVolume(device.Name, devicePath.Child("name")),
			names.Add(device.Name, devicePath.Child("name")),
			validate.Required(device.DevicePath, devicePath.Child("devicePath"), `must be the path in the container, such as "/dev/xvda"`),
			validateNoBacksteps(device.DevicePath, devicePath.Child("devicePath")),
			devicePaths.Add(device.DevicePath, devicePath.Child("devicePath")),
			mounted.validateOthers(device, devicePath),
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

// mounts are the names of the volumes that a container mounts, and the paths where it does.
type mounts struct {
	names, paths sets.Set[string]
}

func mountsOf(volumeMounts []corev1.VolumeMount) mounts {
	m := mounts{sets.New[string](), sets.New[string]()}
	for i := range volumeMounts {
		m.names.Insert(volumeMounts[i].Name)
		m.paths.Insert(volumeMounts[i].MountPath)
	}
	m.names.Delete("")
	m.paths.Delete("")
	return m
}

// validateOthers requires of a block device that its volume and its path are other ones.
func (m mounts) validateOthers(device *corev1.VolumeDevice, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m.names.Has(device.Name) {
		errs = append(errs, field.Invalid(path.Child("name"), device.Name, "must not be in volumeMounts as well"))
	}
	if m.paths.Has(device.DevicePath) {
		errs = append(errs, field.Invalid(path.Child("devicePath"), device.DevicePath, "must not be in volumeMounts as well"))
	}
	return errs
}
