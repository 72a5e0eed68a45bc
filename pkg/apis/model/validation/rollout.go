// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxMinReadySeconds is less than the progress deadline that a rollout has by default.
const maxMinReadySeconds = modelv1.DefaultProgressDeadlineSeconds - 1

func validateRollout(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateReplicas(spec, path.Child("replicas")),
		validateStrategy(spec, path.Child("strategy")),
		validateRollingUpdate(spec.RollingUpdate, spec.Workload, path.Child("rollingUpdate")),
		validateMinReadySeconds(spec.MinReadySeconds, path.Child("minReadySeconds")),
		validateProgressDeadline(spec, path.Child("progressDeadlineSeconds")),
		validatePodManagementPolicy(spec, path.Child("podManagementPolicy")),
		validateRevisionHistoryLimit(spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit")),
	)
}

func validateReplicas(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.Workload != model.WorkloadDaemonSet || spec.Replicas == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "may not be set when `workload` is 'DaemonSet', which runs a pod on every node")}
}

func validateStrategy(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.Workload == model.WorkloadDeployment || spec.Strategy != model.StrategyRecreate {
		return nil
	}
	detail := fmt.Sprintf("must be %s when `workload` is '%s'", model.StrategyRollingUpdate, spec.Workload)
	return field.ErrorList{field.Invalid(path, spec.Strategy, detail)}
}

func validateMinReadySeconds(seconds *int32, path *field.Path) field.ErrorList {
	if seconds == nil || *seconds >= 0 && *seconds <= maxMinReadySeconds {
		return nil
	}
	detail := fmt.Sprintf("must be between 0 and %d: a rollout that takes %d seconds to progress counts as failed", maxMinReadySeconds, maxMinReadySeconds+1)
	return field.ErrorList{field.Invalid(path, *seconds, detail)}
}

// validateProgressDeadline requires a deadline that a pod can become available before.
func validateProgressDeadline(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	deadline, ready := spec.ProgressDeadlineSeconds, ptr.Deref(spec.MinReadySeconds, 0)
	switch {
	case deadline == nil || *deadline > max(ready, 0):
		return nil
	case *deadline < 1:
		return field.ErrorList{field.Invalid(path, *deadline, "must be at least 1")}
	default:
		return field.ErrorList{field.Invalid(path, *deadline, fmt.Sprintf("must be greater than `minReadySeconds`, which is %d", ready))}
	}
}

func validatePodManagementPolicy(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	if spec.PodManagementPolicy == nil || spec.Workload == model.WorkloadStatefulSet {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("may not be set when `workload` is '%s': only a StatefulSet orders its pods", spec.Workload))}
}

func validateRevisionHistoryLimit(limit *int32, path *field.Path) field.ErrorList {
	if limit == nil || *limit >= 0 && *limit <= modelv1.MaxRevisionHistoryLimit {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *limit, fmt.Sprintf("must be between 0 and %d", modelv1.MaxRevisionHistoryLimit))}
}
