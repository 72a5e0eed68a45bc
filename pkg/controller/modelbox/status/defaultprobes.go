// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// defaultProbes are those probes of a box's main container that are there because the box leaves them out.
type defaultProbes struct {
	container string
	// startup and readiness are nil where the box says otherwise.
	startup, readiness *corev1.Probe
}

// defaultProbesOf returns the default probes in the pod template of the workload, which may be nil.
func defaultProbesOf(box *modelv1.ModelBox, workload kinds.Workload) defaultProbes {
	probes := defaultProbes{container: box.Spec.Name}
	if workload == nil || box.Spec.DefaultProbes == modelv1.DefaultProbesDisabled {
		return probes
	}
	live, overlaid := containerNamed(workload.PodTemplate(), box.Spec.Name), containerNamed(box.Spec.PodTemplate, box.Spec.Name)
	if box.Spec.StartupProbe == nil && overlaid.StartupProbe == nil {
		probes.startup = live.StartupProbe
	}
	if box.Spec.ReadinessProbe == nil && overlaid.ReadinessProbe == nil {
		probes.readiness = live.ReadinessProbe
	}
	return probes
}

// containerNamed returns the container of that name, an empty one where there is none.
func containerNamed(template *corev1.PodTemplateSpec, name string) *corev1.Container {
	if template != nil {
		containers := template.Spec.Containers
		if i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
			return &containers[i]
		}
	}
	return &corev1.Container{}
}

// failedDefaultProbe returns what a default probe of the running container has found, empty where there is none or where it
// cannot have failed yet.
func (f *podFailures) failedDefaultProbe(status *corev1.ContainerStatus) string {
	kind, probe := probeOf(status), f.probes.startup
	if kind == readinessProbe {
		probe = f.probes.readiness
	}
	if status.Name != f.probes.container || probe == nil || probe.TCPSocket == nil {
		return ""
	}
	// A container is not ready once the probe has failed, and before it has been tried.
	first := time.Duration(probe.InitialDelaySeconds+probe.PeriodSeconds+probe.TimeoutSeconds) * time.Second
	if !f.hasTaken(&status.State.Running.StartedAt, first+time.Second) {
		return ""
	}
	return fmt.Sprintf("nothing answers on port %s, which the default %s probe checks; see spec.defaultProbes", probe.TCPSocket.Port.String(), kind)
}

const (
	startupProbe   = "startup"
	readinessProbe = "readiness"
)

// probeOf returns which probe a container waits for that runs and is not ready.
func probeOf(status *corev1.ContainerStatus) string {
	if status.Started != nil && !*status.Started {
		return startupProbe
	}
	return readinessProbe
}
