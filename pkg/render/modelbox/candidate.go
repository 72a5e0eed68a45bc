// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// candidateLabels are the labels of the candidate and of its pods that the stable pods do not have.
var candidateLabels = map[string]string{modelv1.CandidateLabel: "true"}

// candidate renders what a box has beside its other children while its rollout is in steps: the candidate Deployment, the ConfigMaps
// of its pods that the stable pods do not have, and a Service that leads to its pods only.
func candidate(steps *Steps, isHalted bool) ([]runtime.ApplyConfiguration, error) {
	box := candidateBox(steps)
	deployment, err := candidateDeployment(box)
	if err != nil {
		return nil, fmt.Errorf("rendering the candidate Deployment: %w", err)
	}
	if isHalted {
		deployment.Spec.WithPaused(true)
	}
	configurations := []runtime.ApplyConfiguration{deployment}
	configurations = append(configurations, unsharedConfigMaps(box, steps.primary())...)
	if SplitsTraffic(box) {
		configurations = append(configurations, candidateService(box))
	}
	return configurations, nil
}

// candidateBox returns the box with the number of pods of the candidate.
func candidateBox(steps *Steps) *modelv1.ModelBox {
	box := *steps.box
	box.Spec.Replicas = ptr.To(steps.candidateReplicas())
	box.Spec.Configs = versionedConfigs(steps.box)
	return &box
}

func candidateDeployment(box *modelv1.ModelBox) (*applyappsv1.DeploymentApplyConfiguration, error) {
	template, err := podTemplate(box)
	if err != nil {
		return nil, err
	}
	template.WithLabels(candidateLabels)
	deployment := deployment(box, ScaledByBox, template).WithName(helper.CandidateName(box.Name)).WithLabels(candidateLabels)
	deployment.Spec.Selector.WithMatchLabels(candidateLabels)
	return deployment, nil
}

// candidateService returns the Service of the candidate. It is not reachable from outside the cluster, even if the Service of the
// box is.
func candidateService(box *modelv1.ModelBox) *applycorev1.ServiceApplyConfiguration {
	inside := *box
	inside.Spec.ServiceType, inside.Spec.Service = modelv1.ServiceTypeClusterIP, nil
	inside.Spec.Ports = slices.Clone(box.Spec.Ports)
	for i := range inside.Spec.Ports {
		inside.Spec.Ports[i].NodePort = 0
	}
	service := service(&inside, nil).WithName(helper.CandidateName(box.Name)).WithLabels(candidateLabels)
	service.Spec.WithSelector(candidateLabels)
	return service
}

// trafficSelector returns the labels of the pods that the Service of the box leads to.
func trafficSelector(box *modelv1.ModelBox, traffic *modelv1.ModelBoxRolloutTraffic) map[string]string {
	selector := Selector(box)
	switch {
	case traffic == nil:
	case traffic.Service == modelv1.TrafficToStable:
		selector[appsv1.DefaultDeploymentUniqueLabelKey] = traffic.StableHash
	case traffic.Service == modelv1.TrafficToCandidate:
		maps.Copy(selector, candidateLabels)
	}
	return selector
}
