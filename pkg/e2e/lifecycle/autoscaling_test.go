// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestAutoscaledReplicasAreKept moves a box from replicas in its spec to an autoscaler of its Deployment, to an autoscaler of the
// box, and back. There are no metrics in this cluster: autoscalers only apply their minimum. No step may delete or replace pods.
func TestAutoscaledReplicasAreKept(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	seen := observeReplicas(n, "web")
	template := n.GetDeployment("web").Spec.Template

	n.Autoscale("deployment/web", 3)
	n.AwaitPods("web", 3)
	setMinimum(n, 4)
	n.AwaitPods("web", 4)
	framework.ExpectEqual(t, "replicas of the box", int32(1), *n.GetBox("web").Spec.Replicas)
	n.Eventually("the table counts what is asked for", func() error {
		if table := n.Kubectl.Run("get", "modelbox", "web"); !strings.Contains(table, " 4/4 ") {
			return errors.New(table)
		}
		return nil
	})

	// A change of the box, and a manual change, leave the number of pods to the autoscaler.
	n.UpdateBox("web", framework.WithPorts(corev1.ServicePort{Port: 81}, corev1.ServicePort{Port: 80}))
	n.AwaitPods("web", 4)
	n.UpdateBox("web", framework.WithPorts(corev1.ServicePort{Port: 80}))
	n.AwaitPods("web", 4)
	n.UpdateBox("web", framework.WithReplicas(2))
	n.AwaitPods("web", 4)

	n.Kubectl.Run("delete", "hpa", "web")
	n.Autoscale("modelbox/web", 3)
	n.AwaitPods("web", 3)
	framework.ExpectEqual(t, "replicas of the box", int32(3), *n.GetBox("web").Spec.Replicas)

	n.Kubectl.Run("delete", "hpa", "web")
	n.Autoscale("deployment/web", 5)
	n.AwaitPods("web", 5)

	n.Kubectl.Run("delete", "hpa", "web")
	n.UpdateBox("web", framework.WithReplicas(2))
	n.AwaitPods("web", 2)

	framework.ExpectEqual(t, "numbers of replicas asked for", []int32{1, 3, 4, 3, 5, 2}, seen())
	for _, event := range n.Events.About("web") {
		if event.Reason == "RestoredDeployment" {
			t.Errorf("the autoscaler was fought with: %s", event.Note)
		}
	}
	framework.ExpectEqual(t, "pod template", template, n.GetDeployment("web").Spec.Template)
}

// TestAutoscaledBoxScalesToZeroAndBack stops a box with an autoscaled Deployment, and starts it again.
func TestAutoscaledBoxScalesToZeroAndBack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	n.Autoscale("deployment/web", 2)
	n.AwaitPods("web", 2)
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=0")
	n.AwaitPods("web", 0)
	n.Kubectl.Run("scale", "modelbox/web", "--replicas=1")
	n.AwaitPods("web", 2)
}

func setMinimum(n *framework.Namespace, minimum int) {
	n.T.Helper()
	_, err := n.ControlPlane.KubeClient.AutoscalingV2().HorizontalPodAutoscalers(n.Name).Patch(n.Ctx, "web", types.MergePatchType,
		fmt.Appendf(nil, `{"spec": {"minReplicas": %d}}`, minimum), metav1.PatchOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
}

// observeReplicas watches the Deployment. The returned function waits for the last number of replicas, ends the watch, and returns
// the different numbers in their order.
func observeReplicas(n *framework.Namespace, name string) func() []int32 {
	n.T.Helper()
	watch, err := n.Deployments.Watch(n.Ctx, metav1.SingleObject(metav1.ObjectMeta{Name: name}))
	if err != nil {
		n.T.Fatal(err)
	}
	var mu sync.Mutex
	var seen []int32
	var watching sync.WaitGroup
	watching.Go(func() {
		for event := range watch.ResultChan() {
			deployment, ok := event.Object.(*appsv1.Deployment)
			if !ok {
				continue
			}
			mu.Lock()
			if replicas := *deployment.Spec.Replicas; len(seen) == 0 || seen[len(seen)-1] != replicas {
				seen = append(seen, replicas)
			}
			mu.Unlock()
		}
	})
	return func() []int32 {
		n.T.Helper()
		last := *n.GetDeployment(name).Spec.Replicas
		n.Eventually("the last number of replicas is seen", func() error {
			mu.Lock()
			defer mu.Unlock()
			if len(seen) == 0 || seen[len(seen)-1] != last {
				return fmt.Errorf("it is %d, and those seen are %d", last, seen)
			}
			return nil
		})
		watch.Stop()
		watching.Wait()
		return seen
	}
}
