// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// PodContext is what the rules for a container ask about its pod.
type PodContext struct {
	volumes volumeSources
	// claims are the names of the pod's resource claims.
	claims sets.Set[string]
	// ports are the names of the ports of each container.
	ports       map[string]sets.Set[string]
	gracePeriod int64
	os          corev1.OSName
	hostNetwork bool
	// userNamespace is true for a pod in a user namespace: one whose hostUsers is false.
	userNamespace bool
}

// NewPodContext returns the context of the containers of a pod.
func NewPodContext(spec *corev1.PodSpec) PodContext {
	pod := PodContext{
		volumes:       volumesByName(spec.Volumes),
		claims:        sets.New[string](),
		ports:         map[string]sets.Set[string]{},
		gracePeriod:   corev1.DefaultTerminationGracePeriodSeconds,
		hostNetwork:   spec.HostNetwork,
		userNamespace: spec.HostUsers != nil && !*spec.HostUsers,
	}
	for i := range spec.ResourceClaims {
		pod.claims.Insert(spec.ResourceClaims[i].Name)
	}
	pod.claims.Delete("")
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			pod.ports[containers[i].Name] = addPortNames(pod.ports[containers[i].Name], containers[i].Ports)
		}
	}
	if seconds := spec.TerminationGracePeriodSeconds; seconds != nil && *seconds >= 0 {
		pod.gracePeriod = *seconds
	}
	if spec.OS != nil {
		pod.os = spec.OS.Name
	}
	return pod
}

// handlers are the rules for the probes and hooks of one of the pod's containers.
func (p PodContext) handlers(container *corev1.Container) handlerContext {
	return handlerContext{
		ports:       addPortNames(p.ports[container.Name], container.Ports),
		gracePeriod: p.gracePeriod,
		os:          p.os,
	}
}

func isTrue(value *bool) bool {
	return value != nil && *value
}
