// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// How injected probes check. A TCP connection says little about an application, so the checks are patient: an
// application that is slow to start has startupFailures × startupPeriodSeconds, five minutes, before the
// liveness probe counts. They are often at first, because nothing is ready before the startup probe has passed.
const (
	startupPeriodSeconds   = 1
	startupTimeoutSeconds  = 1
	startupFailures        = 300
	readinessPeriodSeconds = 5
	livenessPeriodSeconds  = 10
	probeTimeoutSeconds    = 5
	probeFailures          = 3
)

// setProbes gives the main container the probes of the box and, unless the box opts out, those that it leaves out:
// a TCP check of its first TCP port.
func setProbes(container *corev1.Container, spec *modelv1.ModelBoxSpec) {
	container.ReadinessProbe = spec.ReadinessProbe
	container.LivenessProbe = spec.LivenessProbe
	container.StartupProbe = spec.StartupProbe

	port, ok := firstTCPPort(container, spec)
	if !ok || spec.DefaultProbes == modelv1.DefaultProbesDisabled {
		return
	}
	isDisabled := func(probe modelv1.DefaultProbe) bool { return slices.Contains(spec.DisabledDefaultProbes, probe) }
	if container.ReadinessProbe == nil && !isDisabled(modelv1.DefaultProbeReadiness) {
		container.ReadinessProbe = tcpProbe(port, readinessPeriodSeconds, probeTimeoutSeconds, probeFailures)
	}
	if container.LivenessProbe != nil || isDisabled(modelv1.DefaultProbeLiveness) {
		return
	}
	container.LivenessProbe = tcpProbe(port, livenessPeriodSeconds, probeTimeoutSeconds, probeFailures)
	if container.StartupProbe == nil && !isDisabled(modelv1.DefaultProbeStartup) {
		container.StartupProbe = tcpProbe(port, startupPeriodSeconds, startupTimeoutSeconds, startupFailures)
	}
}

// firstTCPPort is the first of the box's TCP ports that leads to the main container by number or, where none does, by
// the name of a port that the overlay declares.
func firstTCPPort(container *corev1.Container, spec *modelv1.ModelBoxSpec) (int32, bool) {
	for _, port := range container.Ports {
		if port.Protocol == corev1.ProtocolTCP {
			return port.ContainerPort, true
		}
	}
	overlaid := overlaidPorts(spec)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		if port.Protocol != corev1.ProtocolTCP || port.TargetPort.Type != intstr.String {
			continue
		}
		for _, target := range overlaid {
			if target.Name == port.TargetPort.StrVal && target.Protocol == corev1.ProtocolTCP {
				return target.ContainerPort, true
			}
		}
	}
	return 0, false
}

// overlaidPorts are the ports that the overlay gives to the main container.
func overlaidPorts(spec *modelv1.ModelBoxSpec) []corev1.ContainerPort {
	if spec.PodTemplate == nil {
		return nil
	}
	for i := range spec.PodTemplate.Spec.Containers {
		if container := &spec.PodTemplate.Spec.Containers[i]; container.Name == spec.Name {
			return container.Ports
		}
	}
	return nil
}

func tcpProbe(port, periodSeconds, timeoutSeconds, failureThreshold int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
		PeriodSeconds:    periodSeconds,
		TimeoutSeconds:   timeoutSeconds,
		FailureThreshold: failureThreshold,
	}
}
