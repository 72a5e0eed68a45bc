// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestUpdateReachesWhatDependsOnItLast(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("db"), component("api", "db"), component("web", "api"))
	s.awaitReady()
	api := s.GetBox("api")
	changes := s.watchBoxes(func(_ watch.EventType, box *modelv1.ModelBox) string {
		switch {
		case box.Spec.Image != framework.NewImage:
			return ""
		case isReady(box):
			return "ready " + box.Name
		default:
			return "updated " + box.Name
		}
	})
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[0].Box.Image, components[2].Box.Image = framework.NewImage, framework.NewImage
		return components
	})
	s.expect(changes, "updated db", "ready db", "updated web", "ready web")
	s.awaitReady()
	framework.ExpectEqual(t, "generation of a box that did not change", api.Generation, s.GetBox("api").Generation)
}

func TestUpdateWaitsForADependencyThatIsTakenBack(t *testing.T) {
	t.Parallel()
	db := component("db")
	db.Box.Strategy, db.Box.RollingUpdate = modelv1.StrategyRecreate, nil
	s := createStack(t, db, component("backend", "db"))
	s.awaitReady()
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		framework.Unschedulable(components[0].Box)
		components[1].Box.Image = framework.NewImage
		return components
	})
	s.AwaitReadyCondition("db", metav1.ConditionFalse, "Unschedulable")
	s.awaitState("backend", modelv1.ComponentWaiting, "db")
	changes := s.watchBoxes(func(_ watch.EventType, box *modelv1.ModelBox) string {
		switch {
		case box.Name == "db" && isReady(box):
			return "ready db"
		case box.Name == "backend" && box.Spec.Image == framework.NewImage:
			return "updated backend"
		default:
			return ""
		}
	})
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[0].Box.PodTemplate = nil
		return components
	})
	s.expect(changes, "ready db", "updated backend")
}

func TestDependencyThatFlapsLeavesWhatDependsOnItAlone(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("db"), component("web", "db"))
	s.awaitReady()
	web, deployment := s.GetBox("web"), s.GetDeployment("web")
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[1].Box.Image = framework.NewImage
		return components
	})
	for range 5 {
		s.Kubectl.Run("delete", "pods", "-l", "modelbox=db", "--wait=false")
		s.AwaitReady("db")
	}
	s.awaitReady()
	framework.ExpectEqual(t, "UID of the box", web.UID, s.GetBox("web").UID)
	framework.ExpectEqual(t, "UID of its Deployment", deployment.UID, s.GetDeployment("web").UID)
	framework.ExpectEqual(t, "its image", framework.NewImage, s.GetBox("web").Spec.Image)
}

func TestComponentGoesOutsideAndComesBack(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("db"), component("web", "db"))
	s.awaitReady()
	for _, host := range []string{"db.example.com", "192.0.2.1"} {
		s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
			components[0].Box, components[0].External = nil, &modelv1.ModelStackExternal{Host: host, Port: 80}
			return components
		})
		s.awaitReady()
		s.ExpectNoBox("db")
	}
	framework.ExpectEqual(t, "type of the Service", corev1.ServiceTypeClusterIP, s.GetService("db").Spec.Type)
	slice, err := s.ControlPlane.KubeClient.DiscoveryV1().EndpointSlices(s.Name).Get(s.Ctx, "db", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "Service of the EndpointSlice", "db", slice.Labels[discoveryv1.LabelServiceName])
	framework.ExpectEqual(t, "its address", "192.0.2.1", slice.Endpoints[0].Addresses[0])

	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[0] = component("db")
		return components
	})
	s.awaitReady()
	framework.ExpectEqual(t, "what the Service leads to", "db", s.GetService("db").Spec.Selector[modelv1.SelectorLabel])
	if _, err := s.ControlPlane.KubeClient.DiscoveryV1().EndpointSlices(s.Name).Get(s.Ctx, "db", metav1.GetOptions{}); framework.CheckGone(err) != nil {
		t.Errorf("the EndpointSlice of the stack is still there: %v", err)
	}
}

func TestComponentThatIsTakenOutGoesAfterItsUsersWereUpdated(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("db"), component("cache"), component("web", "db", "cache"))
	s.awaitReady()
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		web := components[2]
		web.DependsOn = []string{"db"}
		framework.Unschedulable(web.Box)
		return []modelv1.ModelStackComponent{components[0], web}
	})
	s.awaitState("cache", modelv1.ComponentTerminating, "web")
	s.AwaitReadyCondition("web", metav1.ConditionFalse, "Unschedulable")
	s.AwaitReady("cache")
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[1].Box.PodTemplate = nil
		return components
	})
	s.awaitReady()
	framework.ExpectEqual(t, "boxes", "[db web]", sprint(s.boxNames()))
}

func TestScaleOfAComponentIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("web"))
	s.awaitReady()
	s.Kubectl.Run("scale", "mb", "web", "--replicas=3")
	s.AwaitPods("web", 3)
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[0].Box.Image = framework.NewImage
		return components
	})
	s.awaitReady()
	s.AwaitPods("web", 3)
}

func sprint(names []string) string { return fmt.Sprint(names) }
