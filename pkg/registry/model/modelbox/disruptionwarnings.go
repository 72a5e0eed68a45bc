// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// disruptionWarnings is about a budget that lets nobody evict a pod, so that no node of the pods can be drained. Pods of a
// DaemonSet are no obstacle to that: nobody evicts them.
func disruptionWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	budget, pods := spec.DisruptionBudget, fewestPods(spec)
	if budget == nil || pods == 0 || spec.Workload == model.WorkloadDaemonSet {
		return nil
	}
	path = path.Child("disruptionBudget")
	const blocks = "no pod may be evicted%s, so that draining their nodes does not end; maxUnavailable: 1 lets one go at a time"
	switch {
	case budget.MinAvailable != nil && podsOf(budget.MinAvailable, pods) >= pods:
		return []string{fmt.Sprintf("%s: "+blocks, path.Child("minAvailable"), " while the box has "+countedPods(pods))}
	case budget.MaxUnavailable != nil && podsOf(budget.MaxUnavailable, pods) == 0:
		return []string{fmt.Sprintf("%s: "+blocks, path.Child("maxUnavailable"), "")}
	default:
		return nil
	}
}

// podsOf is how many of so many pods the limit of a budget means, of which a percentage is rounded up. What is no limit means
// none of them.
func podsOf(limit *intstr.IntOrString, pods int32) int32 {
	count, err := intstr.GetScaledValueFromIntOrPercent(limit, int(pods), true)
	if err != nil {
		return 0
	}
	return int32(count)
}
