// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// progressDeadlineSeconds is the default of a Deployment, which a box leaves alone.
const progressDeadlineSeconds = 600

func validateRollout(spec *model.ModelBoxSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateReplicas(spec, path.Child("replicas")),
		validateStrategy(spec, path.Child("strategy")),
		validateRollingUpdate(spec.RollingUpdate, spec.Workload, path.Child("rollingUpdate")),
		validateMinReadySeconds(spec.MinReadySeconds, path.Child("minReadySeconds")),
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
	if seconds == nil || *seconds >= 0 && *seconds < progressDeadlineSeconds {
		return nil
	}
	detail := fmt.Sprintf("must be between 0 and %d: a rollout that takes %d seconds to progress counts as failed",
		progressDeadlineSeconds-1, progressDeadlineSeconds)
	return field.ErrorList{field.Invalid(path, *seconds, detail)}
}
