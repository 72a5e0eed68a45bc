// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func deployment(box *modelv1.ModelBox, scaling Scaling) (*applyappsv1.DeploymentApplyConfiguration, error) {
	template, err := podTemplate(box)
	if err != nil {
		return nil, err
	}
	deployment := applyappsv1.Deployment(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithOwnerReferences(ownerReference(box)).
		WithSpec(applyappsv1.DeploymentSpec().
			WithMinReadySeconds(*box.Spec.MinReadySeconds).
			WithStrategy(applyappsv1.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(applyappsv1.RollingUpdateDeployment().
					WithMaxSurge(*box.Spec.RollingUpdate).
					WithMaxUnavailable(maxUnavailable(&box.Spec, scaling)))).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(Selector(box))).
			WithTemplate(template))
	if scaling.Autoscaled == nil {
		deployment.Spec.WithReplicas(*box.Spec.Replicas)
	} else {
		deployment.WithAnnotations(map[string]string{modelv1.AutoscaledAnnotation: strconv.Itoa(int(*box.Spec.Replicas))})
	}
	return deployment, nil
}

// maxUnavailable is rollingUpdate, except where that would let an update take away the only pod before there is
// another one.
func maxUnavailable(spec *modelv1.ModelBoxSpec, scaling Scaling) intstr.IntOrString {
	rollingUpdate := *spec.RollingUpdate
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(&rollingUpdate, 1, false)
	if hasOnePod(spec, scaling) && (err != nil || unavailable > 0) {
		return intstr.FromInt32(0)
	}
	return rollingUpdate
}

// hasOnePod counts an autoscaler's none as one: its first pod is the only one before anybody could take note of it.
func hasOnePod(spec *modelv1.ModelBoxSpec, scaling Scaling) bool {
	if scaling.Autoscaled != nil {
		return *scaling.Autoscaled <= 1
	}
	return *spec.Replicas == 1
}
