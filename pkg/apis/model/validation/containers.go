// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	pullPolicies               = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}
	terminationMessagePolicies = []corev1.TerminationMessagePolicy{
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError,
	}
)

// validateMainContainer validates the container whose fields are those of the box itself.
func validateMainContainer(spec *model.ModelBoxSpec, pod podContext, path *field.Path) field.ErrorList {
	handlers := pod.handlers(&corev1.Container{Name: spec.Name, Ports: mainContainerPorts(spec)})
	return slices.Concat(
		validateImage(spec.Image, path.Child("image")),
		validateMainResources(spec, pod, path.Child("resources")),
		validateEnv(spec.Envs, pod.volumes, path.Child("envs")),
		validateEnvFrom(spec.EnvFrom, path.Child("envFrom")),
		validateReadinessProbe(spec.ReadinessProbe, handlers, path.Child("readinessProbe")),
		validateRestartingProbe(spec.LivenessProbe, handlers, path.Child("livenessProbe")),
		validateRestartingProbe(spec.StartupProbe, handlers, path.Child("startupProbe")),
		validateVolumeMounts(&corev1.Container{VolumeMounts: spec.VolumeMounts}, pod.volumes, path.Child("volumeMounts")),
	)
}

func validateContainers(containers []corev1.Container, pod podContext, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	hostPorts := validate.Unique[string]{}
	for i := range validate.Each(containers, &errs) {
		container, containerPath := &containers[i], path.Index(i)
		errs = append(errs, validateContainer(container, pod, containerPath)...)
		errs = append(errs, validateLongRunning(container, pod, containerPath)...)
		errs = append(errs, pod.validateHostPorts(container.Ports, hostPorts, containerPath.Child("ports"))...)
	}
	return errs
}

func validateInitContainers(containers []corev1.Container, pod podContext, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(containers, &errs) {
		container, containerPath := &containers[i], path.Index(i)
		errs = append(errs, validateContainer(container, pod, containerPath)...)
		errs = append(errs, pod.validateHostPorts(container.Ports, validate.Unique[string]{}, containerPath.Child("ports"))...)
		if isSidecar(container) {
			errs = append(errs, validateLongRunning(container, pod, containerPath)...)
		} else {
			errs = append(errs, validateRunToEnd(container, containerPath)...)
		}
	}
	return errs
}

// validateContainer holds for containers and init containers alike.
func validateContainer(container *corev1.Container, pod podContext, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateImage(container.Image, path.Child("image")),
		validate.OptionalEnum(container.ImagePullPolicy, pullPolicies, path.Child("imagePullPolicy")),
		validate.OptionalEnum(container.TerminationMessagePolicy, terminationMessagePolicies, path.Child("terminationMessagePolicy")),
		validateContainerPorts(container.Ports, path.Child("ports")),
		validateEnv(container.Env, pod.volumes, path.Child("env")),
		validateEnvFrom(container.EnvFrom, path.Child("envFrom")),
		validateResources(&container.Resources, pod.claims, path.Child("resources")),
		validateResizePolicy(container.ResizePolicy, path.Child("resizePolicy")),
		validateRestartPolicy(container, path),
		validateVolumeMounts(container, pod.volumes, path.Child("volumeMounts")),
		validateVolumeDevices(container, pod.volumes, path.Child("volumeDevices")),
		validateSecurityContext(container.SecurityContext, pod, path.Child("securityContext")),
	)
}

// validateLongRunning holds for what runs as long as the pod does: containers and sidecars.
func validateLongRunning(container *corev1.Container, pod podContext, path *field.Path) field.ErrorList {
	handlers := pod.handlers(container)
	return slices.Concat(
		handlers.validateLifecycle(container.Lifecycle, path.Child("lifecycle")),
		validateReadinessProbe(container.ReadinessProbe, handlers, path.Child("readinessProbe")),
		validateRestartingProbe(container.LivenessProbe, handlers, path.Child("livenessProbe")),
		validateRestartingProbe(container.StartupProbe, handlers, path.Child("startupProbe")),
	)
}

// validateRunToEnd holds for init containers that the main container waits for.
func validateRunToEnd(container *corev1.Container, path *field.Path) field.ErrorList {
	const detail = "may only be given to an init container with restartPolicy Always"
	var errs field.ErrorList
	if container.Lifecycle != nil {
		errs = append(errs, field.Forbidden(path.Child("lifecycle"), detail))
	}
	if container.ReadinessProbe != nil {
		errs = append(errs, field.Forbidden(path.Child("readinessProbe"), detail))
	}
	if container.LivenessProbe != nil {
		errs = append(errs, field.Forbidden(path.Child("livenessProbe"), detail))
	}
	if container.StartupProbe != nil {
		errs = append(errs, field.Forbidden(path.Child("startupProbe"), detail))
	}
	for i, policy := range validate.Each(container.ResizePolicy, &errs) {
		if policy.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Invalid(path.Child("resizePolicy").Index(i).Child("restartPolicy"), policy.RestartPolicy,
				"must be NotRequired for an init container without restartPolicy Always"))
		}
	}
	return errs
}

// validateContainerNames requires one name for each container of the pod, init containers and the main container
// included.
func validateContainerNames(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	names := validate.Unique[string]{}
	return slices.Concat(
		names.Add(spec.Name, path.Child("name")),
		validateNamesOf(spec.Containers, names, path.Child("containers")),
		validateNamesOf(spec.InitContainers, names, path.Child("initContainers")),
	)
}

// validateNamesOf refuses names that are among those of taken, and adds the others.
func validateNamesOf(containers []corev1.Container, taken validate.Unique[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(containers, &errs) {
		errs = append(errs, validateContainerName(containers[i].Name, taken, path.Index(i).Child("name"))...)
	}
	return errs
}

func validateContainerName(name string, taken validate.Unique[string], path *field.Path) field.ErrorList {
	return slices.Concat(validate.Format(name, validation.IsDNS1123Label, path), taken.Add(name, path))
}

// validateImage refuses white space around an image as the Pod API does: a Deployment takes it, its pods do not. What
// else is no image no kubelet would pull: they parse it as this does.
func validateImage(image string, path *field.Path) field.ErrorList {
	const such = `must name an image, such as "nginx:1.7.9"`
	if image == "" {
		return field.ErrorList{field.Required(path, such)}
	}
	if strings.TrimSpace(image) != image {
		return field.ErrorList{field.Invalid(path, image, "must not start or end with white space")}
	}
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(path, image, fmt.Sprintf("%s: %v", such, err))}
	}
	return nil
}

func validateOptionalChoice[T ~string](value T, choices []T, path *field.Path) field.ErrorList {
	if value == "" {
		return nil
	}
	return validate.Enum(value, choices, path)
}

func isSidecar(initContainer *corev1.Container) bool {
	return initContainer.RestartPolicy != nil && *initContainer.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
