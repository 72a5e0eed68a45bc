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

func statefulSet(box *modelv1.ModelBox, scaling Scaling, template *applycorev1.PodTemplateSpecApplyConfiguration) *applyappsv1.StatefulSetApplyConfiguration {
	statefulSet := applyappsv1.StatefulSet(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(applyappsv1.StatefulSetSpec().
			WithMinReadySeconds(*box.Spec.MinReadySeconds).
			WithServiceName(GoverningServiceName(box)).
			WithUpdateStrategy(statefulSetUpdateStrategy(box.Spec.RollingUpdate)).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(Selector(box))).
			WithTemplate(template).
			WithVolumeClaimTemplates(volumeClaimTemplates(box)...))
	statefulSet.Spec.PersistentVolumeClaimRetentionPolicy = claimRetentionPolicy(&box.Spec)
	statefulSet.Spec.RevisionHistoryLimit = box.Spec.RevisionHistoryLimit
	if policy := box.Spec.PodManagementPolicy; policy != nil {
		statefulSet.Spec.WithPodManagementPolicy(appsv1.PodManagementPolicyType(*policy))
	}
	if scaling.Autoscaled == nil {
		statefulSet.Spec.WithReplicas(*box.Spec.Replicas)
	} else {
		statefulSet.WithAnnotations(autoscaledAnnotations(box))
	}
	return statefulSet
}

// statefulSetUpdateStrategy leaves maxUnavailable unset if the box does not set it, so that the default of Kubernetes applies.
func statefulSetUpdateStrategy(rollingUpdate *modelv1.RollingUpdate) *applyappsv1.StatefulSetUpdateStrategyApplyConfiguration {
	strategy := applyappsv1.StatefulSetUpdateStrategy().WithType(appsv1.RollingUpdateStatefulSetStrategyType)
	if rollingUpdate == nil {
		return strategy
	}
	maxUnavailable := rollingUpdate.MaxUnavailable
	if step, ok := rollingUpdate.Step(); ok {
		maxUnavailable = &step
	}
	return strategy.WithRollingUpdate(applyappsv1.RollingUpdateStatefulSetStrategy().WithMaxUnavailable(*maxUnavailable))
}
