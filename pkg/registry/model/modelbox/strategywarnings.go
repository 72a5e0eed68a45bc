// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// strategyWarnings warns about a rolling update without an effect, and about one that deletes the only pod of a Deployment first.
// Other workloads always delete a pod first.
func strategyWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	if spec.Workload != model.WorkloadDeployment {
		return nil
	}
	path = path.Child("rollingUpdate")
	step, isStep := helper.RollingUpdateStep(spec.RollingUpdate)
	switch {
	case spec.Strategy == model.StrategyRecreate && step == intstr.FromString(modelv1.DefaultRollingUpdate):
		return nil
	case spec.Strategy == model.StrategyRecreate:
		return []string{fmt.Sprintf("%s: %s", path, warn.NoEffectWith("strategy "+string(model.StrategyRecreate)))}
	case isStep || *spec.Replicas != 1:
		return nil
	}
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(spec.RollingUpdate.MaxUnavailable, 1, false)
	if err != nil || unavailable == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s", path.Child("maxUnavailable"), warn.OnlyPodDeletedFirst)}
}
