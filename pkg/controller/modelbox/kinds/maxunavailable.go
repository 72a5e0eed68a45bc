// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// MaxUnavailable returns how many pods a rolling update of the workload may make unavailable, at least 1.
func MaxUnavailable(workload Workload) int {
	replicas, limit, isRoundedUp := int(workload.Replicas().Desired), (*intstr.IntOrString)(nil), false
	switch workload := workload.(type) {
	case Deployment:
		if workload.Spec.Strategy.RollingUpdate == nil {
			return max(1, replicas) // The strategy Recreate makes all of them unavailable.
		}
		limit = workload.Spec.Strategy.RollingUpdate.MaxUnavailable
	case StatefulSet:
		if rollingUpdate := workload.Spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
			limit = rollingUpdate.MaxUnavailable
		}
	case DaemonSet:
		if rollingUpdate := workload.Spec.UpdateStrategy.RollingUpdate; rollingUpdate != nil {
			limit, isRoundedUp = rollingUpdate.MaxUnavailable, true
		}
	}
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(cmp.Or(limit, ptr.To(intstr.FromInt32(1))), replicas, isRoundedUp)
	if err != nil {
		return 1
	}
	return max(1, unavailable)
}
