// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestAdoption is about boxes that take over what there is already.
func TestAdoption(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(n *namespace)
	}{
		{"a box takes back what another one of its name left behind", orphansAreTakenBack},
		{"a box takes over what people made by hand, and keeps its pods", handMadeIsTakenOver},
		{"a selector that cannot change is in the way", anotherSelectorIsRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(newNamespace(t))
		})
	}
}

func orphansAreTakenBack(n *namespace) {
	before := n.createReady(newBox("web"))
	deployment, service := n.deployment("web"), n.service("web")
	n.kubectl("delete", "mb", "web", "--cascade=orphan", "--timeout="+patience.String())
	expectEqual(n.t, "owners of the orphan", 0, len(n.deployment("web").OwnerReferences))

	after := n.createReady(adoptingBox("web"))
	n.awaitEvent("web", "AdoptedDeployment")
	n.awaitEvent("web", "AdoptedService")
	expectEqual(n.t, "UID of the Deployment", deployment.UID, n.deployment("web").UID)
	expectEqual(n.t, "UID of the Service", service.UID, n.service("web").UID)
	expectControlled(n.t, n.deployment("web"), after)
	expectControlled(n.t, n.service("web"), after)
	expectEqual(n.t, "pods", fmt.Sprint(before.Status.PodNames), fmt.Sprint(after.Status.PodNames))

	// It is the box's now: what it says goes, and they go with it.
	n.change("web", withImage(newImage))
	n.awaitReady("web")
	expectEqual(n.t, "image", newImage, n.deployment("web").Spec.Template.Spec.Containers[0].Image)
	n.kubectl("delete", "mb", "web", "--cascade=foreground", "--timeout="+patience.String())
	_, err := n.deployments.Get(n.ctx, "web", metav1.GetOptions{})
	if err := expectGone(err); err != nil {
		n.t.Errorf("the adopted Deployment: %v", err)
	}
}

func handMadeIsTakenOver(n *namespace) {
	pods := n.createHandMade(map[string]string{modelv1.SelectorLabel: "web"})
	box := n.createReady(adoptingBox("web", withReplicas(2)))
	n.awaitEvent("web", "AdoptedDeployment")
	expectControlled(n.t, n.deployment("web"), box)
	expectEqual(n.t, "pods, which run what the box says already", pods, fmt.Sprint(box.Status.PodNames))
	n.awaitQuietDeployment("web")
}

func anotherSelectorIsRefused(n *namespace) {
	n.createHandMade(map[string]string{"app": "web"})
	before := n.deployment("web")
	n.create(adoptingBox("web"))
	n.awaitNotOwned("web")
	message := meta.FindStatusCondition(n.box("web").Status.Conditions, modelv1.ConditionApplied).Message
	if !strings.Contains(message, `its selector is "app=web" and cannot become "modelbox=web"`) {
		n.t.Errorf("the condition does not say what is in the way: %s", message)
	}
	expectEqual(n.t, "resourceVersion", before.ResourceVersion, n.deployment("web").ResourceVersion)
}

func adoptingBox(name string, changes ...func(*modelv1.ModelBoxSpec)) *modelv1.ModelBox {
	box := newBox(name, changes...)
	box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	return box
}

// createHandMade creates the Deployment and the pods that somebody would have who wrote by hand what a box of two
// replicas says. It returns the names of the pods.
func (n *namespace) createHandMade(selector map[string]string) string {
	n.t.Helper()
	template := n.createReady(newBox("web", withReplicas(2)))
	deployment := n.deployment("web")
	n.kubectl("delete", "mb", "web", "--cascade=foreground", "--timeout="+patience.String())

	labels := deployment.Spec.Template.Labels
	for name, value := range selector {
		labels[name] = value
	}
	_, err := n.deployments.Create(n.ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: template.Name},
		Spec: appsv1.DeploymentSpec{
			Replicas: deployment.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: deployment.Spec.Template,
		},
	}, metav1.CreateOptions{FieldManager: somebodyElse})
	if err != nil {
		n.t.Fatal(err)
	}
	n.awaitQuietDeployment("web")
	pods, err := n.podsOf("web")
	if err != nil {
		n.t.Fatal(err)
	}
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return fmt.Sprint(names)
}

func (n *namespace) awaitQuietDeployment(name string) {
	n.t.Helper()
	n.awaitDeployment(name, "is rolled out", isComplete)
}

func expectControlled(t *testing.T, child metav1.Object, box *modelv1.ModelBox) {
	t.Helper()
	if !metav1.IsControlledBy(child, box) {
		t.Errorf("%T %s is not controlled by box %s", child, child.GetName(), box.Name)
	}
}
