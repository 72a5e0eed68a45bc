// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateWindowsHostProcesses requires that either all containers of a Windows pod are processes of its node or none is.
func validateWindowsHostProcesses(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var ofPod *bool
	if context := spec.SecurityContext; context != nil {
		ofPod = hostProcessOf(context.WindowsOptions)
	}
	var errs field.ErrorList
	some := false
	visitContainers(spec, path, func(container *corev1.Container, _ *field.Path) {
		some = some || isHostProcess(container, ofPod)
	})
	visitContainers(spec, path, func(container *corev1.Container, containerPath *field.Path) {
		hostProcess := hostProcessOfContainer(container)
		containerPath = containerPath.Child("securityContext", "windowsOptions", "hostProcess")
		switch {
		case ofPod != nil && hostProcess != nil && *hostProcess != *ofPod:
			errs = append(errs, field.Invalid(containerPath, *hostProcess, "must be the same as in the pod's securityContext, or left out"))
		case some && !isHostProcess(container, ofPod):
			errs = append(errs, field.Invalid(containerPath, false, "must be true: other containers of the pod are host processes"))
		}
	})
	return errs
}

func isHostProcess(container *corev1.Container, ofPod *bool) bool {
	if own := hostProcessOfContainer(container); own != nil {
		return *own
	}
	return isTrue(ofPod)
}

func hostProcessOfContainer(container *corev1.Container) *bool {
	if container.SecurityContext == nil {
		return nil
	}
	return hostProcessOf(container.SecurityContext.WindowsOptions)
}

func hostProcessOf(options *corev1.WindowsSecurityContextOptions) *bool {
	if options == nil {
		return nil
	}
	return options.HostProcess
}
