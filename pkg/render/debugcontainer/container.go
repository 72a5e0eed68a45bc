// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package debugcontainer makes the ephemeral containers that pods are debugged with: those of "kubectl debug".
package debugcontainer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// DefaultContainerAnnotation of a pod names the container that kubectl takes where none is named.
const DefaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

const (
	// namePrefix and a suffix of so many characters are the name of a container that was given none.
	namePrefix   = "debugger-"
	suffixLength = 5
)

// Options says what a pod is debugged with. Name and Image are required.
type Options struct {
	// Name is one that no container of the pod has: see GenerateName.
	Name string
	// Image is what the container runs.
	Image string
	// ImagePullPolicy is left to the API server where it is empty.
	ImagePullPolicy corev1.PullPolicy
	// Command and Args take the place of those of the image.
	Command, Args []string
	Env           []corev1.EnvVar
	// TargetContainerName is the container of the pod whose processes are seen: see DefaultTarget. Where it is empty, the container
	// sees its own, or all of a pod that shares its process namespace.
	TargetContainerName string
	// Stdin keeps the standard input open, for those who attach to the container, and TTY makes it a terminal.
	Stdin, TTY bool
	// Profile is what the container may do. Empty is ProfileGeneral.
	Profile Profile
}

// New returns the container of the options. The same options always make the same container. A profile that is not known is an
// error.
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

// GenerateName returns a random name that no container of the pods has, as kubectl generates it: debugger-x5k2q.
func GenerateName(pods ...*corev1.Pod) string {
	for {
		name := namePrefix + rand.String(suffixLength)
		if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return HasContainer(pod, name) }) {
			return name
		}
	}
}

// DefaultTarget returns the container whose processes are to be seen where none is named: that of DefaultContainerAnnotation, the
// first of the preferred ones that there is, or the first one of the pod. It is never an init container or an ephemeral one, and
// empty only for a pod without containers.
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

// HasContainer returns whether a container of the pod has the name, init containers and ephemeral ones included.
func HasContainer(pod *corev1.Pod, name string) bool {
	return slices.Contains(ContainerNames(pod), name)
}

// ContainerNames returns the names of all containers of the pod: those that serve, then init containers, then ephemeral ones.
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
