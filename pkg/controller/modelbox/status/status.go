// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// Of computes the status from the box, which also carries the last one, and from what was observed.
func Of(box *modelv1.ModelBox, observed *Observation) modelv1.ModelBoxStatus {
	status := modelv1.ModelBoxStatus{
		ObservedGeneration: box.Generation,
		Selector:           labels.SelectorFromSet(modelboxrender.Selector(box)).String(),
		Conditions:         ConditionsOf(box, observed),
		UnreleasedStorage:  observed.Unreleased,
		Rollout:            observed.Rollout.Status,
		Resize:             observed.Resize.Status,
		Job:                jobStatus(observed),
	}
	if observed.Workload != nil {
		replicas := replicasOf(box, observed)
		status.DesiredReplicas = &replicas.Desired
		status.Replicas = replicas.Current
		status.UpdatedReplicas = replicas.Updated
		status.ReadyReplicas = replicas.Ready
		status.AvailableReplicas = replicas.Available
	}
	for i, pod := range observed.Pods {
		if i == modelv1.MaxPodNames {
			status.PodNamesOmitted = int32(len(observed.Pods) - i)
			break
		}
		status.PodNames = append(status.PodNames, pod.Name)
	}
	status.PodNetworks = PodNetworks(observed.Pods[:len(status.PodNames)])
	if observed.Service != nil {
		status.Address = address(box, observed)
		status.NodePorts = nodePorts(observed.Service)
	}
	status.IngressAddresses = kinds.IngressAddresses(observed.Ingress)
	return status
}

// replicasOf returns the numbers of pods of the workload and of its candidate together.
func replicasOf(box *modelv1.ModelBox, observed *Observation) kinds.Replicas {
	replicas := observed.Workload.Replicas()
	if observed.Candidate == nil {
		return replicas
	}
	candidate := observed.Candidate.Replicas()
	replicas.Current += candidate.Current
	replicas.Ready += candidate.Ready
	replicas.Available += candidate.Available
	if observed.Rollout.isInSteps() {
		if _, hasStablePods := observed.Workload.GetAnnotations()[modelv1.RolledBackAnnotation]; hasStablePods {
			replicas.Updated = 0
		}
		replicas.Updated += candidate.Updated
	}
	if _, isAutoscaled := observed.Workload.GetAnnotations()[modelv1.AutoscaledAnnotation]; !isAutoscaled {
		replicas.Desired = ptr.Deref(box.Spec.Replicas, 1)
	}
	return replicas
}

// jobStatus returns the result of the Job of the box, nil if there is none.
func jobStatus(observed *Observation) *modelv1.ModelBoxJobStatus {
	job, isJob := observed.Workload.(kinds.Job)
	if !isJob || !kinds.IsJobFinished(job.Job) {
		return observed.LostJob
	}
	status := &modelv1.ModelBoxJobStatus{TemplateHash: job.Revision(), Phase: modelv1.JobSucceeded}
	if run := job.Rollout(); run.Reason == modelv1.ReasonJobFailed {
		status.Phase, status.Message = modelv1.JobFailed, message.Truncate(run.Message)
	}
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
