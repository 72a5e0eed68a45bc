// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// statusOf computes the status from the box, which also carries the last one, and from what was observed.
func statusOf(box *modelv1.ModelBox, observed *observation) modelv1.ModelBoxStatus {
	status := modelv1.ModelBoxStatus{
		ObservedGeneration: box.Generation,
		Selector:           labels.SelectorFromSet(modelboxrender.Selector(box)).String(),
		Conditions:         conditionsOf(box, observed),
		UnreleasedStorage:  observed.unreleased,
		Rollout:            observed.rollout.status,
	}
	if observed.workload != nil {
		replicas := observed.workload.replicas()
		status.DesiredReplicas = &replicas.desired
		status.Replicas = replicas.current
		status.UpdatedReplicas = replicas.updated
		status.ReadyReplicas = replicas.ready
		status.AvailableReplicas = replicas.available
	}
	for i, pod := range observed.pods {
		if i == modelv1.MaxPodNames {
			status.PodNamesOmitted = int32(len(observed.pods) - i)
			break
		}
		status.PodNames = append(status.PodNames, pod.Name)
	}
	status.PodNetworks = podNetworks(observed.pods[:len(status.PodNames)])
	if observed.service != nil {
		status.Address = address(box, observed)
		status.NodePorts = nodePorts(observed.service)
	}
	status.IngressAddresses = ingressAddresses(observed.ingress)
	return status
}

func nodePorts(service *corev1.Service) []modelv1.NodePort {
	var ports []modelv1.NodePort
	for _, port := range service.Spec.Ports {
		if port.NodePort != 0 {
			ports = append(ports, modelv1.NodePort{Port: port.Port, Protocol: port.Protocol, NodePort: port.NodePort})
		}
	}
	return ports
}
