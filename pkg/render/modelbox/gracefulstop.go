// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
)

// The graceful stop of a pod with traffic. Clients send requests to the pod until every node has removed it from the Service.
// Therefore, its containers continue for a while before they get the signal to stop. After that, they have the usual grace period.
const (
	stopDelaySeconds   int64 = 10
	gracePeriodSeconds       = corev1.DefaultTerminationGracePeriodSeconds + stopDelaySeconds

	// stopDelayShare limits the delay to a small part of a grace period that the box sets, so that most of it is for the containers
	// to stop.
	stopDelayShare = 3
)

// delayStop adds a preStop hook that sleeps to every container without a preStop hook. Native sidecars need none, because they stop
// after the containers.
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
