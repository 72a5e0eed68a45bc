// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The timing of injected probes. A TCP check says little about an application, so the thresholds are high: an application has
// startupFailures × startupPeriodSeconds, five minutes, to start before the liveness probe begins. The period of the startup probe
// is short, because a pod is not ready before the startup probe succeeds.
const (
	startupPeriodSeconds   = 1
	startupTimeoutSeconds  = 1
	startupFailures        = 300
	readinessPeriodSeconds = 5
	livenessPeriodSeconds  = 10
	probeTimeoutSeconds    = 5
	probeFailures          = 3
)

// setProbes sets the probes of the box on the main container. Unless the box disables it, setProbes also injects the missing
// probes: a TCP check of the first TCP port.
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

// firstTCPPort returns the first TCP port of the box whose target port is a number. If there is none, it returns the first one
// whose target port is the name of a port of the main container in the overlay.
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

// overlaidPorts returns the ports of the main container in the overlay.
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
