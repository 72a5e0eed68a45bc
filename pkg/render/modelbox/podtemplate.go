// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func podTemplate(box *modelv1.ModelBox) (*applycorev1.PodTemplateSpecApplyConfiguration, error) {
	spec := applycorev1.PodSpec()

	main := mainContainer(box)
	for _, container := range append([]corev1.Container{main}, box.Spec.Containers...) {
		container = withConfigMounts(container, &box.Spec)
		configuration, err := containerConfiguration(&container)
		if err != nil {
			return nil, err
		}
		spec.WithContainers(configuration)
	}
	for _, container := range box.Spec.InitContainers {
		container = withConfigMounts(container, &box.Spec)
		configuration, err := containerConfiguration(&container)
		if err != nil {
			return nil, err
		}
		spec.WithInitContainers(configuration)
	}
	volumes := box.Spec.Volumes
	if box.Spec.Workload != modelv1.WorkloadStatefulSet {
		volumes = slices.Concat(volumes, claimVolumes(box))
	}
	for i := range volumes {
		volume := &applycorev1.VolumeApplyConfiguration{}
		if err := render.ConvertSet(&volumes[i], volume); err != nil {
			return nil, err
		}
		spec.WithVolumes(volume)
	}
	spec.WithVolumes(configVolumes(box)...)
	for _, secret := range box.Spec.ImagePullSecrets {
		spec.WithImagePullSecrets(applycorev1.LocalObjectReference().WithName(secret.Name))
	}
	if box.Spec.ServiceAccountName != "" {
		spec.WithServiceAccountName(box.Spec.ServiceAccountName)
	}
	if box.Spec.Workload.RunsToCompletion() {
		runToCompletion(spec)
	}
	template, err := overlaid(applycorev1.PodTemplateSpec().WithLabels(labels(box)).WithAnnotations(box.Spec.Annotations).WithSpec(spec), box.Spec.PodTemplate)
	if err != nil {
		return nil, err
	}
	if hash := configsHash(&box.Spec); hash != "" {
		template.WithAnnotations(map[string]string{modelv1.ConfigsHashAnnotation: hash})
	}
	if len(box.Spec.Networks) > 0 {
		template.WithAnnotations(map[string]string{networkattachment.NetworksAnnotation: networkattachment.Selection(box.Spec.Networks)})
	}
	// The API server sets each of these fields from the other. Set both: otherwise, the API server would restore a field that is
	// removed.
	if name := template.Spec.ServiceAccountName; name != nil {
		template.Spec.WithDeprecatedServiceAccount(*name)
	}
	if len(box.Spec.Ports) > 0 {
		delayStop(template.Spec)
	}
	return template, nil
}

// mainContainer returns the container that the fields of the box describe.
func mainContainer(box *modelv1.ModelBox) corev1.Container {
	spec := &box.Spec
	beside := helper.ContainersBeside(spec.Name, spec.Containers, spec.InitContainers, spec.PodTemplate)
	container := corev1.Container{
		Name:         spec.Name,
		Image:        spec.Image,
		Command:      spec.Command,
		Args:         spec.Args,
		Ports:        helper.MainContainerPorts(spec.Ports, beside),
		Env:          spec.Envs,
		EnvFrom:      spec.EnvFrom,
		Resources:    resources(spec),
		VolumeMounts: slices.Concat(spec.VolumeMounts, storageMounts(spec)),
	}
	setProbes(&container, spec)
	return container
}

func containerConfiguration(container *corev1.Container) (*applycorev1.ContainerApplyConfiguration, error) {
	configuration := &applycorev1.ContainerApplyConfiguration{}
	if err := render.ConvertSet(container, configuration); err != nil {
		return nil, fmt.Errorf("container %s: %w", container.Name, err)
	}
	return configuration, nil
}
