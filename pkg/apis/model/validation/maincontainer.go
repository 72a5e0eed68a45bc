// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corevalidation "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/core/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

// validateMainContainer validates the container whose fields are those of the box itself. Its ports are not among them:
// they are derived, and only named by its probes.
func validateMainContainer(spec *model.ModelBoxSpec, pod corevalidation.PodContext, path *field.Path) field.ErrorList {
	container := &corev1.Container{
		Name:           spec.Name,
		Image:          spec.Image,
		EnvFrom:        spec.EnvFrom,
		ReadinessProbe: spec.ReadinessProbe,
		LivenessProbe:  spec.LivenessProbe,
		StartupProbe:   spec.StartupProbe,
		VolumeMounts:   spec.VolumeMounts,
	}
	errs := validateResourceType(spec, path.Child("resources"))
	if spec.Resources != nil && len(errs) == 0 {
		container.Resources = *spec.Resources
	}
	return slices.Concat(errs,
		corevalidation.ValidateContainer(container, pod, path),
		corevalidation.ValidateEnv(spec.Envs, pod, path.Child("envs")),
	)
}

// validateResourceType refuses resources of the main container where its size says what they are.
func validateResourceType(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.Resources == nil {
		return nil
	}
	switch spec.ResourceType {
	case model.ResourceTypeSmall, model.ResourceTypeMedium, model.ResourceTypeLarge:
		detail := fmt.Sprintf("needs resourceType custom: resourceType %s says what the resources are", spec.ResourceType)
		return field.ErrorList{field.Forbidden(path, detail)}
	}
	return nil
}

// validateContainerNames requires one name for each container of the pod, init containers and the main container
// included.
func validateContainerNames(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	names := validate.Unique[string]{}
	return slices.Concat(
		names.Add(spec.Name, path.Child("name")),
		corevalidation.ValidateContainerNames(spec.Containers, names, path.Child("containers")),
		corevalidation.ValidateContainerNames(spec.InitContainers, names, path.Child("initContainers")),
	)
}

// mainContainerPorts are the ports that the main container declares without the overlay's doing.
func mainContainerPorts(spec *model.ModelBoxSpec) []corev1.ContainerPort {
	beside := helper.ContainersBeside(spec.Name, spec.Containers, spec.InitContainers, spec.PodTemplate)
	return helper.MainContainerPorts(spec.Ports, beside)
}

// podContextOfBox is that of the pods of a box as far as it is known before the overlay is merged.
func podContextOfBox(spec *model.ModelBoxSpec) corevalidation.PodContext {
	var pod corev1.PodSpec
	if spec.PodTemplate != nil {
		pod = spec.PodTemplate.Spec
	}
	volumes := slices.Concat(spec.Volumes, configVolumes(spec), storageVolumes(spec))
	overlaid := slices.DeleteFunc(slices.Clone(pod.Volumes), func(volume corev1.Volume) bool {
		return volume.VolumeSource == corev1.VolumeSource{} && hasVolume(volumes, volume.Name)
	})
	pod.Volumes = slices.Concat(volumes, overlaid)
	pod.Containers = append(slices.Clip(pod.Containers), corev1.Container{Name: spec.Name, Ports: mainContainerPorts(spec)})
	return corevalidation.NewPodContext(&pod)
}

func hasVolume(volumes []corev1.Volume, name string) bool {
	return slices.ContainsFunc(volumes, func(volume corev1.Volume) bool { return volume.Name == name })
}
