// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestNewImageRollsOut(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web", withReplicas(2)))
	changed := n.change("web", withImage(newImage))
	box := n.awaitReady("web")
	expectEqual(t, "generation", changed.Generation, box.Status.ObservedGeneration)
	pods, err := n.podsOf("web")
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		expectEqual(t, "image of pod "+pod.Name, newImage, pod.Spec.Containers[0].Image)
	}
	expectEqual(t, "number of pods", 2, len(pods))
}

func TestStopAndGo(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	before := n.createReady(newBox("web"))
	service := n.service("web")

	n.change("web", withReplicas(0))
	n.awaitBox("web", "is Ready without pods", func(box *modelv1.ModelBox) error {
		if len(box.Status.PodNames) > 0 {
			return fmt.Errorf("its pods are %q", box.Status.PodNames)
		}
		return hasCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonStopped)
	})
	expectEqual(t, "UID of the Service while stopped", service.UID, n.service("web").UID)

	n.change("web", withReplicas(1))
	after := n.awaitBox("web", "is Ready again", func(box *modelv1.ModelBox) error {
		return hasCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	})
	if len(after.Status.PodNames) != 1 || after.Status.PodNames[0] == before.Status.PodNames[0] {
		t.Errorf("pods after the pause: %q, before: %q", after.Status.PodNames, before.Status.PodNames)
	}
}

func TestServiceFollowsPorts(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))

	n.change("web", withPorts())
	n.eventually("the Service is gone", func() error {
		_, err := n.services.Get(n.ctx, "web", metav1.GetOptions{})
		return expectGone(err)
	})
	if box := n.awaitReady("web"); box.Status.Address != "" {
		t.Errorf("without ports the address is %q, want none", box.Status.Address)
	}
	n.awaitEvent("web", "PrunedService")
	if probe := n.deployment("web").Spec.Template.Spec.Containers[0].ReadinessProbe; probe != nil {
		t.Errorf("without ports there is still a readiness probe: %v", probe)
	}

	n.change("web", withPorts(corev1.ServicePort{Port: 8080}, corev1.ServicePort{Port: 8080, Protocol: corev1.ProtocolUDP}))
	n.awaitService("web", "is back with the new ports", func(service *corev1.Service) error {
		if len(service.Spec.Ports) != 2 || service.Spec.Ports[0].Port != 8080 {
			return fmt.Errorf("its ports are %v", service.Spec.Ports)
		}
		return nil
	})
	box := n.awaitReady("web")
	expectEqual(t, "address", "web."+n.name+".svc:8080", box.Status.Address)
}

// TestServiceTypeChanges goes through types each of which has fields that the next one must not keep.
func TestServiceTypeChanges(t *testing.T) {
	t.Parallel()
	for name, types := range map[string][]modelv1.ServiceType{
		"with an address": {modelv1.ServiceTypeNodePort, modelv1.ServiceTypeLoadBalancer, modelv1.ServiceTypeClusterIP},
		"to headless":     {modelv1.ServiceTypeHeadless, modelv1.ServiceTypeNodePort},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			n.createReady(newBox("web"))
			for _, to := range types {
				n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = to })
				n.awaitService("web", "is "+string(to), func(service *corev1.Service) error { return isOfType(service, to) })
				n.awaitBox("web", "is applied as "+string(to), func(box *modelv1.ModelBox) error {
					return hasCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, "")
				})
			}
		})
	}
}

func isOfType(service *corev1.Service, want modelv1.ServiceType) error {
	spec, headless := &service.Spec, want == modelv1.ServiceTypeHeadless
	switch {
	case headless != (spec.ClusterIP == corev1.ClusterIPNone),
		headless && spec.Type != corev1.ServiceTypeClusterIP,
		!headless && string(spec.Type) != string(want):
		return fmt.Errorf("it is %s with address %s", spec.Type, spec.ClusterIP)
	case spec.Type == corev1.ServiceTypeClusterIP && spec.Ports[0].NodePort != 0:
		return errors.New("it still has a node port")
	}
	return nil
}
