// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// podContext is what the rules for a container ask about its pod.
type podContext struct {
	volumes volumeSources
	// claims are the names of the pod's resource claims.
	claims sets.Set[string]
	// ports are the names of the ports of each container.
	ports       map[string]sets.Set[string]
	gracePeriod int64
	os          corev1.OSName
	hostNetwork bool
	// ownUsers is true for a pod in a user namespace: one whose hostUsers is false.
	ownUsers bool
}

func podContextOf(spec *corev1.PodSpec) podContext {
	pod := podContext{
		volumes:     volumesByName(spec.Volumes),
		claims:      sets.New[string](),
		ports:       map[string]sets.Set[string]{},
		gracePeriod: corev1.DefaultTerminationGracePeriodSeconds,
		hostNetwork: spec.HostNetwork,
		ownUsers:    spec.HostUsers != nil && !*spec.HostUsers,
	}
	for i := range spec.ResourceClaims {
		pod.claims.Insert(spec.ResourceClaims[i].Name)
	}
	pod.claims.Delete("")
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			pod.ports[containers[i].Name] = addPortNames(sets.New[string](), containers[i].Ports)
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

// podContextOfBox is that of the pods of a box as far as it is known before the overlay is merged.
func podContextOfBox(spec *model.ModelBoxSpec) podContext {
	var overlay corev1.PodSpec
	if spec.PodTemplate != nil {
		overlay = spec.PodTemplate.Spec
	}
	pod := podContextOf(&overlay)
	volumes := volumesByName(spec.Volumes)
	for name, source := range pod.volumes {
		if volumes[name] == nil || *source != (corev1.VolumeSource{}) {
			volumes[name] = source
		}
	}
	pod.volumes = volumes
	return pod
}

// handlers are the rules for the probes and hooks of one of the pod's containers.
func (p podContext) handlers(container *corev1.Container) handlerRules {
	return handlerRules{
		ports:       addPortNames(p.ports[container.Name].Clone(), container.Ports),
		gracePeriod: p.gracePeriod,
		os:          p.os,
	}
}

func isTrue(value *bool) bool {
	return value != nil && *value
}
