// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestAutoscaledReplicasAreKept moves a box from its own number of pods to an autoscaler of its Deployment, to an autoscaler of
// the box, and back. Autoscalers know no load here, but their minimum. No step may cost pods, or roll them.
func TestAutoscaledReplicasAreKept(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	seen := n.observeReplicas("web")
	template := n.deployment("web").Spec.Template

	n.autoscale("deployment/web", 3)
	n.awaitPods("web", 3)
	n.setMinimum(4)
	n.awaitPods("web", 4)
	expectEqual(t, "replicas of the box", int32(1), *n.box("web").Spec.Replicas)
	n.eventually("the table counts what is asked for", func() error {
		if table := n.kubectl("get", "modelbox", "web"); !strings.Contains(table, " 4/4 ") {
			return errors.New(table)
		}
		return nil
	})

	// A change of the box, and one by hand, leave the number to the autoscaler.
	n.change("web", withPorts(corev1.ServicePort{Port: 81}, corev1.ServicePort{Port: 80}))
	n.awaitPods("web", 4)
	n.change("web", withPorts(corev1.ServicePort{Port: 80}))
	n.awaitPods("web", 4)
	n.change("web", withReplicas(2))
	n.awaitPods("web", 4)

	n.kubectl("delete", "hpa", "web")
	n.autoscale("modelbox/web", 3)
	n.awaitPods("web", 3)
	expectEqual(t, "replicas of the box", int32(3), *n.box("web").Spec.Replicas)

	n.kubectl("delete", "hpa", "web")
	n.autoscale("deployment/web", 5)
	n.awaitPods("web", 5)

	n.kubectl("delete", "hpa", "web")
	n.change("web", withReplicas(2))
	n.awaitPods("web", 2)

	expectEqual(t, "numbers of replicas asked for", []int32{1, 3, 4, 3, 5, 2}, seen())
	for _, event := range n.eventsAbout("web") {
		if event.Reason == "RestoredDeployment" {
			t.Errorf("the autoscaler was fought with: %s", event.Note)
		}
	}
	expectEqual(t, "pod template", template, n.deployment("web").Spec.Template)
}

// TestAutoscaledBoxIsStopped stops a box whose Deployment is autoscaled, and starts it again.
func TestAutoscaledBoxIsStopped(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	n.autoscale("deployment/web", 2)
	n.awaitPods("web", 2)
	n.kubectl("scale", "modelbox/web", "--replicas=0")
	n.awaitPods("web", 0)
	n.kubectl("scale", "modelbox/web", "--replicas=1")
	n.awaitPods("web", 2)
}

// autoscale creates an autoscaler named web.
func (n *namespace) autoscale(target string, minimum int) {
	n.t.Helper()
	n.kubectl("autoscale", target, fmt.Sprintf("--min=%d", minimum), "--max=9", "--cpu=50%")
	n.eventually("the autoscaler has read the scale", func() error {
		autoscaler, err := n.plane.kube.AutoscalingV2().HorizontalPodAutoscalers(n.name).Get(n.ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range autoscaler.Status.Conditions {
			if condition.Type == autoscalingv2.AbleToScale && condition.Status == corev1.ConditionTrue &&
				strings.HasPrefix(condition.Reason, "Succeeded") {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %+v", autoscaler.Status.Conditions)
	})
}

func (n *namespace) setMinimum(minimum int) {
	n.t.Helper()
	_, err := n.plane.kube.AutoscalingV2().HorizontalPodAutoscalers(n.name).Patch(n.ctx, "web", types.MergePatchType,
		fmt.Appendf(nil, `{"spec": {"minReplicas": %d}}`, minimum), metav1.PatchOptions{})
	if err != nil {
		n.t.Fatal(err)
	}
}

// observeReplicas watches the Deployment from now on. The function that it returns ends that as soon as the last number
// has been seen, and returns the different numbers of replicas that were asked for, in their order.
func (n *namespace) observeReplicas(name string) func() []int32 {
	n.t.Helper()
	watch, err := n.deployments.Watch(n.ctx, metav1.SingleObject(metav1.ObjectMeta{Name: name}))
	if err != nil {
		n.t.Fatal(err)
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
		n.t.Helper()
		last := *n.deployment(name).Spec.Replicas
		n.eventually("the last number of replicas is seen", func() error {
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
