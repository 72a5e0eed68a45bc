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

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

var (
	pullPolicies               = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}
	terminationMessagePolicies = []corev1.TerminationMessagePolicy{
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError,
	}
)

// ValidateContainer returns what is wrong with a container that runs as long as its pod does, but for its name.
func ValidateContainer(container *corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	return slices.Concat(validateContainerCommon(container, pod, path), validateRunningContainer(container, pod, path))
}

// ValidateContainers returns what is wrong with the containers of a pod, but for their names.
func ValidateContainers(containers []corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	hostPorts := validate.Unique[string]{}
	for i := range validate.Each(containers, &errs) {
		container, containerPath := &containers[i], path.Index(i)
		errs = append(errs, ValidateContainer(container, pod, containerPath)...)
		errs = append(errs, pod.validateHostPorts(container.Ports, hostPorts, containerPath.Child("ports"))...)
	}
	return errs
}

// ValidateInitContainers returns what is wrong with the init containers of a pod, but for their names.
func ValidateInitContainers(containers []corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(containers, &errs) {
		container, containerPath := &containers[i], path.Index(i)
		errs = append(errs, validateContainerCommon(container, pod, containerPath)...)
		errs = append(errs, pod.validateHostPorts(container.Ports, validate.Unique[string]{}, containerPath.Child("ports"))...)
		if IsRestartableInitContainer(container) {
			errs = append(errs, validateRunningContainer(container, pod, containerPath)...)
		} else {
			errs = append(errs, validateNonRestartableInitContainer(container, containerPath)...)
		}
	}
	return errs
}

// validateContainerCommon holds for containers and init containers alike.
func validateContainerCommon(container *corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateImage(container.Image, path.Child("image")),
		validate.OptionalEnum(container.ImagePullPolicy, pullPolicies, path.Child("imagePullPolicy")),
		validate.OptionalEnum(container.TerminationMessagePolicy, terminationMessagePolicies, path.Child("terminationMessagePolicy")),
		validateContainerPorts(container.Ports, path.Child("ports")),
		ValidateEnv(container.Env, pod, path.Child("env")),
		ValidateEnvFrom(container.EnvFrom, path.Child("envFrom")),
		validateResourceRequirements(&container.Resources, pod.claims, path.Child("resources")),
		validateResizePolicy(container.ResizePolicy, path.Child("resizePolicy")),
		validateContainerRestartPolicy(container, path),
		validateVolumeMounts(container, pod.volumes, path.Child("volumeMounts")),
		validateVolumeDevices(container, pod.volumes, path.Child("volumeDevices")),
		validateSecurityContext(container.SecurityContext, pod, path.Child("securityContext")),
	)
}

// validateRunningContainer holds for what runs as long as the pod does: containers and sidecars.
func validateRunningContainer(container *corev1.Container, pod PodContext, path *field.Path) field.ErrorList {
	handlers := pod.handlers(container)
	return slices.Concat(
		handlers.validateLifecycle(container.Lifecycle, path.Child("lifecycle")),
		validateReadinessProbe(container.ReadinessProbe, handlers, path.Child("readinessProbe")),
		validateContainerProbe(container.LivenessProbe, handlers, path.Child("livenessProbe")),
		validateContainerProbe(container.StartupProbe, handlers, path.Child("startupProbe")),
	)
}

// validateNonRestartableInitContainer holds for init containers that the main container waits for.
func validateNonRestartableInitContainer(container *corev1.Container, path *field.Path) field.ErrorList {
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

// ValidateContainerNames requires names of containers that are not among those of taken, and adds them.
func ValidateContainerNames(containers []corev1.Container, taken validate.Unique[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range validate.Each(containers, &errs) {
		name, namePath := containers[i].Name, path.Index(i).Child("name")
		errs = append(errs, validate.Format(name, validation.IsDNS1123Label, namePath)...)
		errs = append(errs, taken.Add(name, namePath)...)
	}
	return errs
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

// IsRestartableInitContainer returns whether an init container keeps running beside the containers of its pod: whether it
// is a sidecar.
func IsRestartableInitContainer(initContainer *corev1.Container) bool {
	return initContainer.RestartPolicy != nil && *initContainer.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
