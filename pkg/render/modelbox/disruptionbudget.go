// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	applypolicyv1 "k8s.io/client-go/applyconfigurations/policy/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func disruptionBudget(box *modelv1.ModelBox) *applypolicyv1.PodDisruptionBudgetApplyConfiguration {
	spec := applypolicyv1.PodDisruptionBudgetSpec().
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(Selector(box)))
	spec.MinAvailable, spec.MaxUnavailable = box.Spec.DisruptionBudget.MinAvailable, box.Spec.DisruptionBudget.MaxUnavailable
	return applypolicyv1.PodDisruptionBudget(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec)
}
