// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
)

// How a pod that takes traffic stops. Clients keep sending to it until every node has taken it out of the Service,
// so its containers go on for a while before they are told to stop, and have as long after that as those of any pod.
const (
	stopDelaySeconds   int64 = 10
	gracePeriodSeconds       = corev1.DefaultTerminationGracePeriodSeconds + stopDelaySeconds

	// stopDelayShare keeps most of a grace period that the box chose itself for the containers to stop in.
	stopDelayShare = 3
)

// delayStop lets every container sleep before it is told to stop, except those with a preStop hook of their own.
// Native sidecars need none: they stop after the containers.
func delayStop(pod *applycorev1.PodSpecApplyConfiguration) {
	if pod.TerminationGracePeriodSeconds == nil {
		pod.WithTerminationGracePeriodSeconds(gracePeriodSeconds)
	}
	delay := min(stopDelaySeconds, *pod.TerminationGracePeriodSeconds/stopDelayShare)
	if delay <= 0 {
		return
	}
	for i := range pod.Containers {
		container := &pod.Containers[i]
		if container.Lifecycle == nil {
			container.WithLifecycle(applycorev1.Lifecycle())
		}
		if container.Lifecycle.PreStop == nil {
			container.Lifecycle.WithPreStop(applycorev1.LifecycleHandler().WithSleep(applycorev1.SleepAction().WithSeconds(delay)))
		}
	}
}
