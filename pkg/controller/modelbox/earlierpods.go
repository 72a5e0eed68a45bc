// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// earlierPods counts the pods that a Deployment whose rollout is complete does not know of: those of a Deployment that
// had its name before, which the garbage collector has not come to yet. They run what the box said then, and the
// Service leads to them.
//
// The pods of the Deployment itself all have one hash by then, and one of them is the newest pod that there is.
func earlierPods(deployment *appsv1.Deployment, pods []*corev1.Pod) int32 {
	var newest *corev1.Pod
	counts := map[string]int32{}
	var all int32
	for _, pod := range pods {
		hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		if hash == "" || !strings.HasPrefix(pod.Name, deployment.Name+"-"+hash+"-") {
			continue // not of a Deployment of the name
		}
		all++
		counts[hash]++
		if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) {
			newest = pod
		}
	}
	if newest == nil || ptr.Deref(deployment.Spec.Replicas, 1) == 0 {
		return all
	}
	return all - counts[newest.Labels[appsv1.DefaultDeploymentUniqueLabelKey]]
}
