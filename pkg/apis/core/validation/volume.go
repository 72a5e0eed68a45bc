// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
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
	bindMountOptions = []corev1.BindMountOption{corev1.BindMountOptionNoDev, corev1.BindMountOptionNoExec, corev1.BindMountOptionNoSUID}
	windowsDrive     = regexp.MustCompile(`^[a-zA-Z]:`)
)

const (
	maxFileMode = 0o777
	// maxDirectoryMode has the sticky bit.
	maxDirectoryMode = 0o1777
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

// validateVolumeMounts validates the volume mounts of a container, at path.
func validateVolumeMounts(container *corev1.Container, volumes volumeSources, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	mountPaths := validate.Unique[string]{}
	for i := range validate.Each(container.VolumeMounts, &errs) {
		mount, mountPath := &container.VolumeMounts[i], path.Index(i)
		errs = append(errs, slices.Concat(
			volumes.validateName(mount.Name, mountPath.Child("name")),
			ValidateMountPath(mount.MountPath, mountPath.Child("mountPath")),
			mountPaths.Add(mount.MountPath, mountPath.Child("mountPath")),
			validateSubPath(mount, mountPath),
			validateMountPropagation(mount.MountPropagation, container.SecurityContext, mountPath.Child("mountPropagation")),
			validateRecursiveReadOnly(mount, mountPath.Child("recursiveReadOnly")),
			volumes.validateBindMountOptions(mount, mountPath.Child("bindMountOptions")),
		)...)
	}
	return errs
}

// ValidateMountPath returns what is wrong with the path where a container sees a volume.
func ValidateMountPath(mountPath string, path *field.Path) field.ErrorList {
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

// validateBindMountOptions requires each option at most once, and none for an image.
func (v volumeSources) validateBindMountOptions(mount *corev1.VolumeMount, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	options := validate.Unique[string]{}
	for i, option := range validate.Each(mount.BindMountOptions, &errs) {
		errs = append(errs, validate.Enum(corev1.BindMountOption(option), bindMountOptions, path.Index(i))...)
		errs = append(errs, options.Add(option, path.Index(i))...)
	}
	if source, found := v[mount.Name]; found && source.Image != nil && len(mount.BindMountOptions) > 0 {
		errs = append(errs, field.Forbidden(path, "may not be given for an image volume"))
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

// validateFilePath validates the place of a projected file inside its volume. Names that start with ".." are those
// under which the kubelet keeps the volume's content.
func validateFilePath(value string, fldPath *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(fldPath, "must be the path of the file in the volume")}
	}
	errs := validateRelativePath(value, fldPath)
	if strings.HasPrefix(value, "..") && !hasBackstep(value) {
		errs = append(errs, field.Invalid(fldPath, value, "must not start with '..'"))
	}
	return errs
}

func validateRelativePath(value string, fldPath *field.Path) field.ErrorList {
	errs := validateNoBacksteps(value, fldPath)
	if path.IsAbs(value) {
		errs = append(errs, field.Invalid(fldPath, value, "must be a relative path"))
	}
	return errs
}

func validateNoBacksteps(value string, fldPath *field.Path) field.ErrorList {
	if !hasBackstep(value) {
		return nil
	}
	return field.ErrorList{field.Invalid(fldPath, value, "must not contain '..'")}
}

func hasBackstep(value string) bool {
	return slices.Contains(strings.Split(value, "/"), "..")
}

func validateFileMode(mode *int32, fldPath *field.Path) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= maxFileMode {
		return nil
	}
	return field.ErrorList{field.Invalid(fldPath, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}
