// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestNewImageRollsOut(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2)))
	changed := n.UpdateBox("web", framework.WithImage(framework.NewImage))
	box := n.AwaitReady("web")
	framework.ExpectEqual(t, "generation", changed.Generation, box.Status.ObservedGeneration)
	pods, err := n.LivePods("web")
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		framework.ExpectEqual(t, "image of pod "+pod.Name, framework.NewImage, pod.Spec.Containers[0].Image)
	}
	framework.ExpectEqual(t, "number of pods", 2, len(pods))
}

func TestBoxStopsAtZeroReplicasAndStartsAgain(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	before := n.CreateReadyBox(framework.NewBox("web"))
	service := n.GetService("web")

	n.UpdateBox("web", framework.WithReplicas(0))
	n.AwaitBox("web", "is Ready without pods", func(box *modelv1.ModelBox) error {
		if len(box.Status.PodNames) > 0 {
			return fmt.Errorf("its pods are %q", box.Status.PodNames)
		}
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonStopped)
	})
	framework.ExpectEqual(t, "UID of the Service while stopped", service.UID, n.GetService("web").UID)

	n.UpdateBox("web", framework.WithReplicas(1))
	after := n.AwaitBox("web", "is Ready again", func(box *modelv1.ModelBox) error {
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	})
	if len(after.Status.PodNames) != 1 || after.Status.PodNames[0] == before.Status.PodNames[0] {
		t.Errorf("pods after the pause: %q, before: %q", after.Status.PodNames, before.Status.PodNames)
	}
}

func TestServiceFollowsPorts(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))

	n.UpdateBox("web", framework.WithPorts())
	n.Eventually("the Service is gone", func() error {
		_, err := n.Services.Get(n.Ctx, "web", metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	if box := n.AwaitReady("web"); box.Status.Address != "" {
		t.Errorf("without ports the address is %q, want none", box.Status.Address)
	}
	n.Events.Await("web", "PrunedService")
	if probe := n.GetDeployment("web").Spec.Template.Spec.Containers[0].ReadinessProbe; probe != nil {
		t.Errorf("without ports there is still a readiness probe: %v", probe)
	}

	n.UpdateBox("web", framework.WithPorts(corev1.ServicePort{Port: 8080}, corev1.ServicePort{Port: 8080, Protocol: corev1.ProtocolUDP}))
	n.AwaitService("web", "is back with the new ports", func(service *corev1.Service) error {
		if len(service.Spec.Ports) != 2 || service.Spec.Ports[0].Port != 8080 {
			return fmt.Errorf("its ports are %v", service.Spec.Ports)
		}
		return nil
	})
	box := n.AwaitReady("web")
	framework.ExpectEqual(t, "address", "web."+n.Name+".svc:8080", box.Status.Address)
}

// TestServiceFollowsServiceType changes through types that each have fields that the next type must not have.
func TestServiceFollowsServiceType(t *testing.T) {
	t.Parallel()
	for name, types := range map[string][]modelv1.ServiceType{
		"with an address": {modelv1.ServiceTypeNodePort, modelv1.ServiceTypeLoadBalancer, modelv1.ServiceTypeClusterIP},
		"to headless":     {modelv1.ServiceTypeHeadless, modelv1.ServiceTypeNodePort},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web"))
			for _, to := range types {
				n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.ServiceType = to })
				n.AwaitService("web", "is "+string(to), func(service *corev1.Service) error { return isOfType(service, to) })
				n.AwaitBox("web", "is applied as "+string(to), func(box *modelv1.ModelBox) error {
					return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, "")
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
