// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func rollingUpdateOfDeployment(maxSurge, maxUnavailable intstr.IntOrString) appsv1.DeploymentStrategy {
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &maxSurge, MaxUnavailable: &maxUnavailable},
	}
}

func awaitStrategy(n *framework.Namespace, want appsv1.DeploymentStrategy) {
	n.T.Helper()
	n.AwaitDeployment("web", "to have the strategy of the box", func(deployment *appsv1.Deployment) error {
		if !cmp.Equal(want, deployment.Spec.Strategy) {
			return fmt.Errorf("it is %+v", deployment.Spec.Strategy)
		}
		return nil
	})
}

// TestRollingUpdateTakesShortAndLongForm applies the short form and the long form with kubectl, and changes between them.
func TestRollingUpdateTakesShortAndLongForm(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	one, none, share := intstr.FromInt32(1), intstr.FromInt32(0), intstr.FromString("30%")
	for _, row := range []struct {
		given string
		want  appsv1.DeploymentStrategy
	}{
		{"30%", rollingUpdateOfDeployment(share, share)},
		{"{maxSurge: 1, maxUnavailable: 0}", rollingUpdateOfDeployment(one, none)},
		{"{maxSurge: 0, maxUnavailable: 30%}", rollingUpdateOfDeployment(none, share)},
		{"{maxSurge: 1}", rollingUpdateOfDeployment(one, intstr.FromString(modelv1.DefaultRollingUpdate))},
		{"1", rollingUpdateOfDeployment(one, one)},
	} {
		for _, apply := range [][]string{{"apply", "--filename=-"}, {"apply", "--server-side", "--force-conflicts", "--filename=-"}} {
			n.Kubectl.RunWithInput(framework.Manifest("image: 'nginx:1.7.9', replicas: 2, rollingUpdate: "+row.given), apply...)
			awaitStrategy(n, row.want)
		}
	}
	for _, wrong := range []string{"true", "{maxSurg: 1}", "[1]"} {
		complaint := n.Kubectl.RunFailing(framework.Manifest("image: 'nginx:1.7.9', rollingUpdate: "+wrong), "apply", "--server-side", "--force-conflicts", "--filename=-")
		for _, words := range []string{"30%", "a number of pods", "maxSurge, maxUnavailable"} {
			if !strings.Contains(complaint, words) {
				t.Errorf("%s: kubectl does not say %q:\n%s", wrong, words, complaint)
			}
		}
	}
}

// TestFormsOfRollingUpdateConflict checks that applying one form conflicts with the field manager of the other form.
func TestFormsOfRollingUpdateConflict(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.ApplyAs("alice", "image: 'nginx:1.7.9', rollingUpdate: {maxSurge: 1}")
	for _, other := range []string{"{maxUnavailable: 0}", "10%"} {
		complaint := n.Kubectl.RunFailing(framework.Manifest("rollingUpdate: "+other), framework.ServerSideApply("bob", nil)...)
		if !strings.Contains(complaint, `conflict with "alice"`) {
			t.Errorf("%s: kubectl names no conflict:\n%s", other, complaint)
		}
	}
}

// TestRecreateEndsOldPodsFirst changes a box to Recreate and back, and updates it with each strategy.
func TestRecreateEndsOldPodsFirst(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	quarter := intstr.FromString(modelv1.DefaultRollingUpdate)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2)))

	n.Kubectl.Run("patch", "modelbox/web", "--type=merge", `--patch={"spec":{"strategy":"Recreate"}}`)
	awaitStrategy(n, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType})
	n.AwaitReady("web")
	before := podNamesOf(n, "web")
	pods, err := n.Pods.Watch(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=web"})
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop()
	n.UpdateBox("web", framework.WithEnvs(framework.EnvValue("A", "1")))
	n.AwaitReady("web")
	for left := before.Clone(); ; {
		event := <-pods.ResultChan()
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("watching the pods: %+v", event)
		}
		if !before.Has(pod.Name) {
			if left.Len() > 0 {
				t.Errorf("a new pod started while %v were there", sets.List(left))
			}
			break
		}
		if event.Type == watch.Deleted || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			left.Delete(pod.Name)
		}
	}

	n.Kubectl.Run("patch", "modelbox/web", "--type=merge", `--patch={"spec":{"strategy":"RollingUpdate"}}`)
	awaitStrategy(n, rollingUpdateOfDeployment(quarter, quarter))
	n.UpdateBox("web", framework.WithEnvs(framework.EnvValue("A", "2")))
	n.AwaitReady("web")
	n.ExpectConverged("web")
}

func podNamesOf(n *framework.Namespace, box string) sets.Set[string] {
	n.T.Helper()
	pods, err := n.LivePods(box)
	if err != nil {
		n.T.Fatal(err)
	}
	names := sets.New[string]()
	for i := range pods {
		names.Insert(pods[i].Name)
	}
	return names
}
