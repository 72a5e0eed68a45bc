// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// maxConfigName is limited by the name of the volume of a config. The ConfigMap may have a longer name.
var maxConfigName = validation.DNS1123LabelMaxLength - len(helper.ConfigVolumeName("x")) + len("x")

// validateConfigs validates the files of a box. The limit of a ConfigMap, 1 MiB, is larger than a whole spec.
func validateConfigs(spec *model.ModelBoxSpec, boxName string, specPath *field.Path) field.ErrorList {
	path := specPath.Child("configs")
	var errs field.ErrorList
	names := configNames{configs: map[string]*field.Path{}, configMaps: map[string]*field.Path{}, volumes: volumesBesideConfigs(spec, specPath)}
	mounted, containers := validate.Unique[string]{}, mountPathsBesideConfigs(spec, specPath)
	for i := range validate.Each(spec.Configs, &errs) {
		config, configPath := &spec.Configs[i], path.Index(i)
		errs = append(errs, slices.Concat(
			names.add(config, boxName, configPath.Child("name")),
			corevalidation.ValidateMountPath(config.MountPath, configPath.Child("mountPath")),
			mounted.Add(config.MountPath, configPath.Child("mountPath")),
			validateConfigContainer(config, spec.Name, containers, configPath),
			validateConfigData(config, configPath),
		)...)
	}
	return errs
}

// configNames are the names that are in use, with the path of the field that uses them.
type configNames struct {
	configs, configMaps, volumes map[string]*field.Path
}

// add requires that no other config has the name, which may be empty, and that the names of its ConfigMap and of its volume are
// unique.
func (n *configNames) add(config *model.ModelBoxConfig, boxName string, path *field.Path) field.ErrorList {
	if first, found := n.configs[config.Name]; found {
		duplicate := field.Duplicate(path, config.Name)
		duplicate.Detail = fmt.Sprintf("%s has it already", first)
		return field.ErrorList{duplicate}
	}
	n.configs[config.Name] = path
	if len(config.Name) > maxConfigName && len(config.Name) <= validation.DNS1123LabelMaxLength {
		return field.ErrorList{field.TooLong(path, config.Name, maxConfigName)} // a longer one is no DNS label anyway
	}
	volume := helper.ConfigVolumeName(config.Name)
	if taken, found := n.volumes[volume]; found {
		return field.ErrorList{field.Invalid(path, config.Name, mustHaveOwnVolume(volume, taken))}
	}
	configMap := helper.ConfigMapName(boxName, config.Name)
	if config.Rollout == model.ConfigRolloutVersioned {
		configMap = helper.VersionedConfigMapName(boxName, config.Name, config.Data, config.BinaryData)
	}
	if taken, found := n.configMaps[configMap]; found {
		return field.ErrorList{field.Invalid(path, config.Name, mustHaveOwnConfigMap(configMap, taken))}
	}
	n.configMaps[configMap] = path
	return nil
}

// validateConfigContainer requires a container of the box that mounts nothing else at the path.
func validateConfigContainer(config *model.ModelBoxConfig, mainName string, containers map[string]mountPaths, path *field.Path) field.ErrorList {
	name := config.Container
	if name == "" {
		name = mainName
	}
	mounts, found := containers[name]
	if !found {
		missing := field.NotFound(path.Child("container"), name)
		missing.Detail = mustNameContainer
		return field.ErrorList{missing}
	}
	if first, found := mounts[config.MountPath]; found {
		duplicate := field.Duplicate(path.Child("mountPath"), config.MountPath)
		duplicate.Detail = fmt.Sprintf("%s has it already", first)
		return field.ErrorList{duplicate}
	}
	return nil
}

// validateConfigData requires files, each in data or in binaryData.
func validateConfigData(config *model.ModelBoxConfig, path *field.Path) field.ErrorList {
	if len(config.Data) == 0 && len(config.BinaryData) == 0 {
		return field.ErrorList{field.Required(path.Child("data"), mustHaveFile)}
	}
	errs := validateConfigKeys(config.Data, path.Child("data"))
	path = path.Child("binaryData")
	errs = append(errs, validateConfigKeys(config.BinaryData, path)...)
	for _, key := range slices.Sorted(maps.Keys(config.BinaryData)) {
		if _, isText := config.Data[key]; isText {
			duplicate := field.Duplicate(path.Key(key), key)
			duplicate.Detail = "data has it already"
			errs = append(errs, duplicate)
		}
	}
	return errs
}

func validateConfigKeys[T any](files map[string]T, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range validate.Each(slices.Sorted(maps.Keys(files)), &errs) {
		errs = append(errs, validate.Invalid(path.Key(key), key, validation.IsConfigMapKey(key))...)
	}
	return errs
}

// volumesBesideConfigs returns the names and the paths of all other volumes of the pods. podTemplate may set how the volume of a
// config shows files, and no other fields of it.
func volumesBesideConfigs(spec *model.ModelBoxSpec, path *field.Path) map[string]*field.Path {
	volumes := map[string]*field.Path{}
	for i := range spec.Volumes {
		volumes[spec.Volumes[i].Name] = path.Child("volumes").Index(i)
	}
	for i := range spec.Storage {
		volumes[spec.Storage[i].Name] = path.Child("storage").Index(i)
	}
	if spec.PodTemplate == nil {
		return volumes
	}
	for i := range spec.PodTemplate.Spec.Volumes {
		source := spec.PodTemplate.Spec.Volumes[i].VolumeSource
		if configMap := source.ConfigMap; configMap != nil && configMap.Name == "" {
			source.ConfigMap = nil
		}
		if (source != corev1.VolumeSource{}) {
			volumes[spec.PodTemplate.Spec.Volumes[i].Name] = path.Child("podTemplate", "spec", "volumes").Index(i)
		}
	}
	return volumes
}

// mountPaths has the path of the field for each directory in which a container mounts a volume.
type mountPaths map[string]*field.Path

// add adds the mounts of a container. It leaves out a volume of a config that is mounted where the config says.
func (m mountPaths) add(container *corev1.Container, configs map[string]string, path *field.Path) {
	for i, mount := range container.VolumeMounts {
		if volume, isConfig := configs[mount.MountPath]; !isConfig || volume != mount.Name {
			m[mount.MountPath] = path.Child("volumeMounts").Index(i).Child("mountPath")
		}
	}
	for i, device := range container.VolumeDevices {
		m[device.DevicePath] = path.Child("volumeDevices").Index(i).Child("devicePath")
	}
}

// mountPathsBesideConfigs returns the mounts of the containers of the box by name. podTemplate can add mounts, and can set more
// fields of the mount of a config.
func mountPathsBesideConfigs(spec *model.ModelBoxSpec, path *field.Path) map[string]mountPaths {
	containers := map[string]mountPaths{spec.Name: {}}
	containers[spec.Name].add(&corev1.Container{VolumeMounts: spec.VolumeMounts}, nil, path)
	for i := range spec.Storage {
		containers[spec.Name][spec.Storage[i].MountPath] = path.Child("storage").Index(i).Child("mountPath")
	}
	eachContainer(spec.Containers, spec.InitContainers, path, func(container *corev1.Container, path *field.Path) {
		containers[container.Name] = mountPaths{}
		containers[container.Name].add(container, nil, path)
	})
	if spec.PodTemplate == nil {
		return containers
	}
	configs := map[string]string{}
	for i := range spec.Configs {
		configs[spec.Configs[i].MountPath] = helper.ConfigVolumeName(spec.Configs[i].Name)
	}
	overlay := &spec.PodTemplate.Spec
	eachContainer(overlay.Containers, overlay.InitContainers, path.Child("podTemplate", "spec"), func(container *corev1.Container, path *field.Path) {
		if mounts, isOfBox := containers[container.Name]; isOfBox {
			mounts.add(container, configs, path)
		}
	})
	return containers
}

func eachContainer(containers, initContainers []corev1.Container, path *field.Path, visit func(*corev1.Container, *field.Path)) {
	for i := range containers {
		visit(&containers[i], path.Child("containers").Index(i))
	}
	for i := range initContainers {
		visit(&initContainers[i], path.Child("initContainers").Index(i))
	}
}

// configVolumes returns the volumes of the configs.
func configVolumes(spec *model.ModelBoxSpec) []corev1.Volume {
	volumes := make([]corev1.Volume, 0, len(spec.Configs))
	for i := range spec.Configs {
		source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}
		volumes = append(volumes, corev1.Volume{Name: helper.ConfigVolumeName(spec.Configs[i].Name), VolumeSource: source})
	}
	return volumes
}
