// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/timeout"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// reconcileStatus writes the status of the box when it is not what was observed, and records the transitions as events. It
// returns after how long to requeue the box for what it put off, 0 for not at all.
func (c *Controller) reconcileStatus(ctx context.Context, box *modelv1.ModelBox, observed *observation) (time.Duration, error) {
	status := statusOf(box, observed)
	delay, err := c.updateStatus(ctx, box, status)
	if err == nil && delay == 0 {
		c.recordRolloutComplete(box, &status, observed.workload)
	}
	return delay, err
}

// updateStatus writes the status of the box, see reconcileStatus.
func (c *Controller) updateStatus(ctx context.Context, box *modelv1.ModelBox, status modelv1.ModelBoxStatus) (time.Duration, error) {
	if apiequality.Semantic.DeepEqual(box.Status, status) {
		return 0, nil
	}
	if isMereProgress(&box.Status, &status) {
		if delay := c.pace.ProgressDelay(keyOf(box)); delay > 0 {
			return delay, nil
		}
	}
	changed := box.DeepCopy()
	changed.Status = status
	changed.ManagedFields = nil // The cache has no more than their fingerprint.
	updated, err := timeout.Request(ctx, func(ctx context.Context) (*modelv1.ModelBox, error) {
		return c.modelClient.ModelV1().ModelBoxes(box.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{FieldManager: render.FieldManager})
	})
	if apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("the box %w", children.ErrOwnerChanged)
	}
	if err != nil {
		return 0, fmt.Errorf("writing the status: %w", err)
	}
	c.consistency.WroteAt(keyOf(box), box.UID, boxResource, updated.ResourceVersion)
	c.pace.Wrote(keyOf(box))
	c.recordTransitions(box, &status)
	return 0, nil
}

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
