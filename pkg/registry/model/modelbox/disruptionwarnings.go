// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// disruptionWarnings warns about a budget that forbids the eviction of every pod, so that the nodes of the pods cannot be drained.
// A drain does not evict the pods of a DaemonSet.
func disruptionWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	budget, pods := spec.DisruptionBudget, fewestPods(spec)
	if budget == nil || pods == 0 || spec.Workload == model.WorkloadDaemonSet {
		return nil
	}
	path = path.Child("disruptionBudget")
	switch {
	case budget.MinAvailable != nil && podsOf(budget.MinAvailable, pods) >= pods:
		return []string{fmt.Sprintf("%s: %s", path.Child("minAvailable"), warn.NoEviction(" while the box has "+countedPods(pods)))}
	case budget.MaxUnavailable != nil && podsOf(budget.MaxUnavailable, pods) == 0:
		return []string{fmt.Sprintf("%s: %s", path.Child("maxUnavailable"), warn.NoEviction(""))}
	default:
		return nil
	}
}

// podsOf returns how many of the pods the limit of a budget means. It rounds a percentage up. An invalid limit means no pod.
func podsOf(limit *intstr.IntOrString, pods int32) int32 {
	count, err := intstr.GetScaledValueFromIntOrPercent(limit, int(pods), true)
	if err != nil {
		return 0
	}
	return int32(count)
}
