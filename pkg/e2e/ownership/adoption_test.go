// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestAdoptionTakesOverWhatExists checks boxes that adopt existing objects.
func TestAdoptionTakesOverWhatExists(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(n *framework.Namespace)
	}{
		{"a box takes back what another one of its name left behind", orphansAreTakenBack},
		{"a box adopts a user's workload, and keeps its pods", handMadeIsTakenOver},
		{"a box takes over a Deployment with its selector", anotherSelectorIsKept},
		{"a selector that selects other pods is in the way", foreignSelectorIsRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(framework.NewNamespace(t))
		})
	}
}

func orphansAreTakenBack(n *framework.Namespace) {
	before := n.CreateReadyBox(framework.NewBox("web"))
	deployment, service := n.GetDeployment("web"), n.GetService("web")
	n.Kubectl.Run("delete", "mb", "web", "--cascade=orphan", "--timeout="+framework.Patience.String())
	framework.ExpectEqual(n.T, "owners of the orphan", 0, len(n.GetDeployment("web").OwnerReferences))

	after := n.CreateReadyBox(adoptingBox("web"))
	n.Events.Await("web", "AdoptedDeployment")
	n.Events.Await("web", "AdoptedService")
	framework.ExpectEqual(n.T, "UID of the Deployment", deployment.UID, n.GetDeployment("web").UID)
	framework.ExpectEqual(n.T, "UID of the Service", service.UID, n.GetService("web").UID)
	expectControlled(n.T, n.GetDeployment("web"), after)
	expectControlled(n.T, n.GetService("web"), after)
	framework.ExpectEqual(n.T, "pods", fmt.Sprint(before.Status.PodNames), fmt.Sprint(after.Status.PodNames))

	// The box owns the objects now: it determines their fields, and they are deleted with it.
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
	framework.ExpectEqual(n.T, "image", framework.NewImage, n.GetDeployment("web").Spec.Template.Spec.Containers[0].Image)
	n.Kubectl.Run("delete", "mb", "web", "--cascade=foreground", "--timeout="+framework.Patience.String())
	_, err := n.Deployments.Get(n.Ctx, "web", metav1.GetOptions{})
	if err := framework.CheckGone(err); err != nil {
		n.T.Errorf("the adopted Deployment: %v", err)
	}
}

func handMadeIsTakenOver(n *framework.Namespace) {
	pods := createHandMade(n, map[string]string{modelv1.SelectorLabel: "web"})
	box := n.CreateReadyBox(adoptingBox("web", framework.WithReplicas(2)))
	n.Events.Await("web", "AdoptedDeployment")
	expectControlled(n.T, n.GetDeployment("web"), box)
	framework.ExpectEqual(n.T, "pods, which run what the box says already", pods, fmt.Sprint(box.Status.PodNames))
	awaitQuietDeployment(n, "web")
}

func anotherSelectorIsKept(n *framework.Namespace) {
	pods := createHandMade(n, map[string]string{"app": "web"})
	box := n.CreateReadyBox(adoptingBox("web", framework.WithReplicas(2)))
	n.Events.Await("web", "AdoptedDeployment")
	expectControlled(n.T, n.GetDeployment("web"), box)
	framework.ExpectEqual(n.T, "selector", fmt.Sprint(map[string]string{"app": "web"}), fmt.Sprint(n.GetDeployment("web").Spec.Selector.MatchLabels))
	framework.ExpectEqual(n.T, "pods, which run what the box says already", pods, fmt.Sprint(box.Status.PodNames))

	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
	framework.ExpectEqual(n.T, "image", framework.NewImage, n.GetDeployment("web").Spec.Template.Spec.Containers[0].Image)
}

func foreignSelectorIsRefused(n *framework.Namespace) {
	createHandMade(n, map[string]string{"app.kubernetes.io/instance": "other"})
	before := n.GetDeployment("web")
	n.CreateBox(adoptingBox("web"))
	n.AwaitNotOwned("web")
	message := meta.FindStatusCondition(n.GetBox("web").Status.Conditions, modelv1.ConditionApplied).Message
	if !strings.Contains(message, `its selector is "app.kubernetes.io/instance=other" and cannot become "modelbox=web"`) {
		n.T.Errorf("the condition does not say what is in the way: %s", message)
	}
	framework.ExpectEqual(n.T, "resourceVersion", before.ResourceVersion, n.GetDeployment("web").ResourceVersion)
}

func adoptingBox(name string, changes ...func(*modelv1.ModelBoxSpec)) *modelv1.ModelBox {
	box := framework.NewBox(name, changes...)
	box.Annotations = map[string]string{modelv1.AdoptAnnotation: "true"}
	return box
}

// createHandMade creates a Deployment as a user, with the spec that a box of two replicas renders, and its pods. It returns the
// names of the pods.
func createHandMade(n *framework.Namespace, selector map[string]string) string {
	n.T.Helper()
	template := n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2)))
	deployment := n.GetDeployment("web")
	n.Kubectl.Run("delete", "mb", "web", "--cascade=foreground", "--timeout="+framework.Patience.String())

	labels := deployment.Spec.Template.Labels
	for name, value := range selector {
		labels[name] = value
	}
	_, err := n.Deployments.Create(n.Ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: template.Name},
		Spec: appsv1.DeploymentSpec{
			Replicas: deployment.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: deployment.Spec.Template,
		},
	}, metav1.CreateOptions{FieldManager: framework.OtherManager})
	if err != nil {
		n.T.Fatal(err)
	}
	awaitQuietDeployment(n, "web")
	pods, err := n.LivePods("web")
	if err != nil {
		n.T.Fatal(err)
	}
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return fmt.Sprint(names)
}

func awaitQuietDeployment(n *framework.Namespace, name string) {
	n.T.Helper()
	n.AwaitDeployment(name, "is rolled out", framework.CheckRolledOut)
}

func expectControlled(t *testing.T, child metav1.Object, box *modelv1.ModelBox) {
	t.Helper()
	if !metav1.IsControlledBy(child, box) {
		t.Errorf("%T %s is not controlled by box %s", child, child.GetName(), box.Name)
	}
}
