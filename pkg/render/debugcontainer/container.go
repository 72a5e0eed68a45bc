// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package debugcontainer renders ephemeral containers for debugging pods, as "kubectl debug" does.
package debugcontainer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// DefaultContainerAnnotation of a pod names the default container for kubectl.
const DefaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

const (
	// A generated name consists of namePrefix and a random suffix of suffixLength characters.
	namePrefix   = "debugger-"
	suffixLength = 5
)

// Options are the options of a debug container. Name and Image are required.
type Options struct {
	// Name is the name of the container. No other container of the pod may have it: see GenerateName.
	Name string
	// Image is the image of the container.
	Image string
	// ImagePullPolicy is the pull policy. If it is empty, the default of the API server applies.
	ImagePullPolicy corev1.PullPolicy
	// Command and Args replace the entrypoint and the arguments of the image.
	Command, Args []string
	Env           []corev1.EnvVar
	// TargetContainerName is the container whose processes the debug container sees: see DefaultTarget. If it is empty, the debug
	// container sees its own processes, or all processes of a pod that shares its process namespace.
	TargetContainerName string
	// Stdin keeps the standard input open for clients that attach to the container. TTY allocates a terminal.
	Stdin, TTY bool
	// Profile determines the security context. Empty means ProfileGeneral.
	Profile Profile
}

// New returns the container of the options. The same options always result in the same container. It returns an error for an
// unknown profile.
func New(options Options) (*corev1.EphemeralContainer, error) {
	securityContext, err := options.Profile.SecurityContext()
	if err != nil {
		return nil, err
	}
	container := &corev1.EphemeralContainer{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name:                     options.Name,
			Image:                    options.Image,
			ImagePullPolicy:          options.ImagePullPolicy,
			Command:                  slices.Clone(options.Command),
			Args:                     slices.Clone(options.Args),
			SecurityContext:          securityContext,
			Stdin:                    options.Stdin,
			TTY:                      options.TTY,
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		},
		TargetContainerName: options.TargetContainerName,
	}
	for i := range options.Env {
		container.Env = append(container.Env, *options.Env[i].DeepCopy())
	}
	return container, nil
}

// GenerateName returns a random name that no container of the pods has, in the format of kubectl, such as debugger-x5k2q.
func GenerateName(pods ...*corev1.Pod) string {
	for {
		name := namePrefix + rand.String(suffixLength)
		if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return HasContainer(pod, name) }) {
			return name
		}
	}
}

// DefaultTarget returns the default target container of a pod: the container of DefaultContainerAnnotation, the first existing
// container of preferred, or the first container of the pod. It never returns an init container or an ephemeral container. It
// returns an empty name only for a pod without containers.
func DefaultTarget(pod *corev1.Pod, preferred ...string) string {
	for _, name := range append([]string{pod.Annotations[DefaultContainerAnnotation]}, preferred...) {
		if slices.ContainsFunc(pod.Spec.Containers, func(container corev1.Container) bool { return container.Name == name }) {
			return name
		}
	}
	if len(pod.Spec.Containers) == 0 {
		return ""
	}
	return pod.Spec.Containers[0].Name
}

// HasContainer returns whether the pod has a container with the name, including init containers and ephemeral containers.
func HasContainer(pod *corev1.Pod, name string) bool {
	return slices.Contains(ContainerNames(pod), name)
}

// ContainerNames returns the names of all containers of the pod: first the containers, then the init containers, then the ephemeral
// containers.
func ContainerNames(pod *corev1.Pod) []string {
	var names []string
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.InitContainers {
		names = append(names, pod.Spec.InitContainers[i].Name)
	}
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	return names
}
