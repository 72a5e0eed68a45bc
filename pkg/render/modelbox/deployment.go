// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

func deployment(box *modelv1.ModelBox, scaling Scaling, template *applycorev1.PodTemplateSpecApplyConfiguration) *applyappsv1.DeploymentApplyConfiguration {
	deployment := applyappsv1.Deployment(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(applyappsv1.DeploymentSpec().
			WithMinReadySeconds(*box.Spec.MinReadySeconds).
			WithStrategy(strategy(&box.Spec, scaling)).
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(Selector(box))).
			WithTemplate(template))
	deployment.Spec.ProgressDeadlineSeconds = box.Spec.ProgressDeadlineSeconds
	deployment.Spec.RevisionHistoryLimit = box.Spec.RevisionHistoryLimit
	if scaling.Autoscaled == nil {
		deployment.Spec.WithReplicas(*box.Spec.Replicas)
	} else {
		deployment.WithAnnotations(autoscaledAnnotations(box))
	}
	return deployment
}

func strategy(spec *modelv1.ModelBoxSpec, scaling Scaling) *applyappsv1.DeploymentStrategyApplyConfiguration {
	if spec.Strategy == modelv1.StrategyRecreate {
		return applyappsv1.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	rollingUpdate := applyappsv1.RollingUpdateDeployment()
	if step, ok := spec.RollingUpdate.Step(); ok {
		rollingUpdate.WithMaxSurge(step).WithMaxUnavailable(maxUnavailable(step, hasOnePod(spec, scaling)))
	} else {
		rollingUpdate.WithMaxSurge(*spec.RollingUpdate.MaxSurge).WithMaxUnavailable(*spec.RollingUpdate.MaxUnavailable)
	}
	return applyappsv1.DeploymentStrategy().
		WithType(appsv1.RollingUpdateDeploymentStrategyType).
		WithRollingUpdate(rollingUpdate)
}

// maxUnavailable returns the step of the rolling update, or 0 if an update would otherwise delete the only pod before a new pod is
// available.
func maxUnavailable(step intstr.IntOrString, onePod bool) intstr.IntOrString {
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(&step, 1, false)
	if onePod && (err != nil || unavailable > 0) {
		return intstr.FromInt32(0)
	}
	return step
}

// hasOnePod counts 0 pods of an autoscaler as one pod, because the autoscaler may create the first pod at any time.
func hasOnePod(spec *modelv1.ModelBoxSpec, scaling Scaling) bool {
	if scaling.Autoscaled != nil {
		return *scaling.Autoscaled <= 1
	}
	return *spec.Replicas == 1
}
