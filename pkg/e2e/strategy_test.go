// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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
)

func rollingUpdateOfDeployment(maxSurge, maxUnavailable intstr.IntOrString) appsv1.DeploymentStrategy {
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &maxSurge, MaxUnavailable: &maxUnavailable},
	}
}

func (n *namespace) awaitStrategy(want appsv1.DeploymentStrategy) {
	n.t.Helper()
	n.awaitDeployment("web", "to have the strategy of the box", func(deployment *appsv1.Deployment) error {
		if !cmp.Equal(want, deployment.Spec.Strategy) {
			return fmt.Errorf("it is %+v", deployment.Spec.Strategy)
		}
		return nil
	})
}

// TestRollingUpdateForms takes what kubectl makes of the short form and of the long one, and of a change between them.
func TestRollingUpdateForms(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
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
			n.kubectlWith(boxManifest("image: 'nginx:1.7.9', replicas: 2, rollingUpdate: "+row.given), apply...)
			n.awaitStrategy(row.want)
		}
	}
	for _, wrong := range []string{"true", "{maxSurg: 1}", "[1]"} {
		complaint := n.kubectlRefused(boxManifest("image: 'nginx:1.7.9', rollingUpdate: "+wrong), "apply", "--server-side", "--force-conflicts", "--filename=-")
		for _, words := range []string{"30%", "a number of pods", "maxSurge, maxUnavailable"} {
			if !strings.Contains(complaint, words) {
				t.Errorf("%s: kubectl does not say %q:\n%s", wrong, words, complaint)
			}
		}
	}
}

// TestRollingUpdateIsOneField: who applies one form of it does not take a limit away from who applied the other.
func TestRollingUpdateIsOneField(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.applyAs("alice", "image: 'nginx:1.7.9', rollingUpdate: {maxSurge: 1}")
	for _, other := range []string{"{maxUnavailable: 0}", "10%"} {
		complaint := n.kubectlRefused(boxManifest("rollingUpdate: "+other), applyArguments("bob", nil)...)
		if !strings.Contains(complaint, `conflict with "alice"`) {
			t.Errorf("%s: kubectl names no conflict:\n%s", other, complaint)
		}
	}
}

// TestRecreate switches a box to Recreate and back, and updates it with each.
func TestRecreate(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	quarter := intstr.FromString(modelv1.DefaultRollingUpdate)
	n.createReady(newBox("web", withReplicas(2)))

	n.kubectl("patch", "modelbox/web", "--type=merge", `--patch={"spec":{"strategy":"Recreate"}}`)
	n.awaitStrategy(appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType})
	n.awaitReady("web")
	before := n.podNames("web")
	pods, err := n.pods.Watch(n.ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=web"})
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop()
	n.change("web", withEnvs(value("A", "1")))
	n.awaitReady("web")
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

	n.kubectl("patch", "modelbox/web", "--type=merge", `--patch={"spec":{"strategy":"RollingUpdate"}}`)
	n.awaitStrategy(rollingUpdateOfDeployment(quarter, quarter))
	n.change("web", withEnvs(value("A", "2")))
	n.awaitReady("web")
	n.expectConverged("web")
}

func (n *namespace) podNames(box string) sets.Set[string] {
	n.t.Helper()
	pods, err := n.podsOf(box)
	if err != nil {
		n.t.Fatal(err)
	}
	names := sets.New[string]()
	for i := range pods {
		names.Insert(pods[i].Name)
	}
	return names
}
