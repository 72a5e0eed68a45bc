// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	appsv1 "k8s.io/api/apps/v1"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func daemonSet(box *modelv1.ModelBox, template *applycorev1.PodTemplateSpecApplyConfiguration) *applyappsv1.DaemonSetApplyConfiguration {
	daemonSet := applyappsv1.DaemonSet(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(applyappsv1.DaemonSetSpec().
			WithMinReadySeconds(*box.Spec.MinReadySeconds).
			WithUpdateStrategy(daemonSetUpdateStrategy(box.Spec.RollingUpdate)).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(Selector(box))).
			WithTemplate(template))
	daemonSet.Spec.RevisionHistoryLimit = box.Spec.RevisionHistoryLimit
	return daemonSet
}

// daemonSetUpdateStrategy leaves fields unset that the box does not set, so that the defaults of Kubernetes apply.
func daemonSetUpdateStrategy(rollingUpdate *modelv1.RollingUpdate) *applyappsv1.DaemonSetUpdateStrategyApplyConfiguration {
	strategy := applyappsv1.DaemonSetUpdateStrategy().WithType(appsv1.RollingUpdateDaemonSetStrategyType)
	if rollingUpdate == nil {
		return strategy
	}
	limits := applyappsv1.RollingUpdateDaemonSet()
	if step, ok := rollingUpdate.Step(); ok {
		limits.WithMaxUnavailable(step)
	} else {
		limits.MaxSurge, limits.MaxUnavailable = rollingUpdate.MaxSurge, rollingUpdate.MaxUnavailable
	}
	return strategy.WithRollingUpdate(limits)
}
