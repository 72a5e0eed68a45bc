// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podsOfEarlierRevisions counts the pods of workloads of a name that have another revision in the label than the newest
// pod has, and all of them where there are to be none. prefix is how the names of pods of a revision begin.
func podsOfEarlierRevisions(desired int32, pods []*corev1.Pod, label string, prefix func(revision string) string) int32 {
	var newest *corev1.Pod
	counts := map[string]int32{}
	var all int32
	for _, pod := range pods {
		revision := pod.Labels[label]
		if revision == "" || !strings.HasPrefix(pod.Name, prefix(revision)) {
			continue // not of a workload of the name
		}
		all++
		counts[revision]++
		if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) {
			newest = pod
		}
	}
	if newest == nil || desired == 0 {
		return all
	}
	return all - counts[newest.Labels[label]]
}
