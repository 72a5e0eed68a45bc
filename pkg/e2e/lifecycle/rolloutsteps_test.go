// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubectl/pkg/util/podutils"
	"k8s.io/utils/ptr"
	gatewayclient "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestCanary rolls a new image out to one pod of four, to two, and to all. At no time, fewer than four pods are ready.
func TestCanary(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(4), framework.WithConfig("web", modelv1.ConfigRolloutRestart, "workers 4;"),
		framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 25, Pause: modelv1.PauseManual}, modelv1.ModelBoxRolloutStep{Weight: 50, Pause: "1s"})))
	expectCapacity(n, "web", 4)

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Image = framework.NewImage
		framework.WithConfig("web", modelv1.ConfigRolloutRestart, "workers 8;")(spec)
	})
	n.AwaitStep("web", 1, 25)
	awaitReplicas(n, "web", 3, 1)
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonProgressing, "step 1 of 2", "kubectl modelbox promote web")
	box := n.GetBox("web")
	framework.ExpectEqual(t, "pods of the box", [3]int32{4, 1, 4}, [3]int32{box.Status.Replicas, box.Status.UpdatedReplicas, box.Status.AvailableReplicas})
	n.AwaitImages("web", map[string]int{framework.Image: 3, framework.NewImage: 1})
	n.AwaitConfigMap("web-web", "has the file of the stable pods", func(files *corev1.ConfigMap) error {
		if content := files.Data[framework.ConfigFile]; content != "workers 4;" {
			return fmt.Errorf("it has %q", content)
		}
		return nil
	})
	n.ExpectConverged("web")

	n.Promote("web")
	box = n.AwaitReady("web")
	framework.ExpectEqual(t, "phase in the end", modelv1.RolloutComplete, box.Status.Rollout.Phase)
	awaitNoCandidate(n, "web")
	n.AwaitImages("web", map[string]int{framework.NewImage: 4})
	n.Events.Await("web", "RolloutStep", "step 1 of 2")
	n.Events.Await("web", "Promoted", "step 2 of 2")
	n.Events.Await("web", "RolloutStep", "all steps are over")
	n.ExpectConverged("web")
}

// TestAbortedCanary aborts a canary, tries it again, and takes all of its steps at once.
func TestAbortedCanary(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(4),
		framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 50, Pause: modelv1.PauseManual})))
	expectCapacity(n, "web", 4)
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitStep("web", 1, 50)

	n.Abort("web")
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonRolledBack, "aborted")
	awaitNoCandidate(n, "web")
	n.AwaitImages("web", map[string]int{framework.Image: 4})

	if _, err := n.Boxes.CreateRetry(n.Ctx, "web", &modelv1.ModelBoxRetry{}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitStep("web", 1, 50)
	n.PromoteFully("web")
	n.AwaitReady("web")
	awaitNoCandidate(n, "web")
	n.AwaitImages("web", map[string]int{framework.NewImage: 4})
}

// TestFailedCanary gives one pod of three a spec with which it never runs. The stable pods must be back before it goes.
func TestFailedCanary(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet} {
		name := strings.ToLower(string(workload))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := n.In(t)
			n.CreateReadyBox(framework.NewBox(name, framework.WithWorkload(workload), framework.WithReplicas(3), func(spec *modelv1.ModelBoxSpec) {
				framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 33, Pause: modelv1.PauseManual})(spec)
				spec.MinReadySeconds, spec.ProgressDeadlineSeconds = ptr.To[int32](0), ptr.To[int32](3)
			}))
			n.UpdateBox(name, framework.Unschedulable)
			n.AwaitReadyCondition(name, metav1.ConditionFalse, modelv1.ReasonRolledBack)
			n.AwaitBox(name, "has its stable pods", func(box *modelv1.ModelBox) error {
				if box.Status.AvailableReplicas != 3 || box.Status.Replicas != 3 {
					return fmt.Errorf("%d pods of %d are available", box.Status.AvailableReplicas, box.Status.Replicas)
				}
				return nil
			})
			awaitNoCandidate(n, name)
			n.AwaitImages(name, map[string]int{framework.Image: 3})
			n.UpdateBox(name, func(spec *modelv1.ModelBoxSpec) { spec.PodTemplate = nil })
			n.AwaitReady(name)
		})
	}
}

// TestRevertedCanary takes a new image back, and then another one with its steps.
func TestRevertedCanary(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(4),
		framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 50, Pause: modelv1.PauseManual})))
	expectCapacity(n, "web", 4)
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitStep("web", 1, 50)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Image = framework.Image })
	n.AwaitReady("web")
	awaitNoCandidate(n, "web")
	n.AwaitImages("web", map[string]int{framework.Image: 4})

	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitStep("web", 1, 50)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Rollout = nil })
	n.AwaitReady("web")
	awaitNoCandidate(n, "web")
	n.AwaitImages("web", map[string]int{framework.NewImage: 4})
}

// TestImmediateRollback rolls a box back from the middle of a canary, to a revision that is neither the canary nor the stable
// revision. The rollback has no steps.
func TestImmediateRollback(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(4), func(spec *modelv1.ModelBoxSpec) {
		framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 50, Pause: modelv1.PauseManual})(spec)
		spec.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateObject, MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0))}
	}))
	expectCapacity(n, "web", 4)
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitStep("web", 1, 50)
	n.Promote("web")
	n.AwaitReady("web")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Annotations = map[string]string{"example.com/version": "3"} })
	n.AwaitStep("web", 1, 50)

	if _, err := n.Boxes.CreateRollback(n.Ctx, "web", &modelv1.ModelBoxRollback{ToRevision: 1, Immediate: true}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	box := n.AwaitReady("web")
	framework.ExpectEqual(t, "phase in the end", modelv1.RolloutComplete, box.Status.Rollout.Phase)
	framework.ExpectEqual(t, "annotations of the pods", map[string]string(nil), box.Spec.Annotations)
	awaitNoCandidate(n, "web")
	n.AwaitImages("web", map[string]int{framework.Image: 4})
	n.Events.Await("web", "RolledBack", "immediately")
	n.ExpectConverged("web")
}

// TestCanaryOfStatefulSet rolls a new image out to the pods of the highest ordinals first.
func TestCanaryOfStatefulSet(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("db", framework.WithWorkload(modelv1.WorkloadStatefulSet), framework.WithReplicas(3),
		framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 33, Pause: modelv1.PauseManual})))
	n.UpdateBox("db", framework.WithImage(framework.NewImage))
	n.AwaitStep("db", 1, 33)
	n.AwaitReadyCondition("db", metav1.ConditionFalse, modelv1.ReasonProgressing, "step 1 of 1", "kubectl modelbox promote db")
	n.AwaitImages("db", map[string]int{framework.Image: 2, framework.NewImage: 1})
	n.Promote("db")
	n.AwaitReady("db")
	n.AwaitImages("db", map[string]int{framework.NewImage: 3})
}

// TestCanaryOfDaemonSet rolls a new image out to one of two nodes first, goes back, and then continues to the other node.
func TestCanaryOfDaemonSet(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("agent", framework.WithWorkload(modelv1.WorkloadDaemonSet),
		framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 50, Pause: modelv1.PauseManual})))
	n.UpdateBox("agent", framework.WithImage(framework.NewImage))
	n.AwaitStep("agent", 1, 50)
	n.AwaitReadyCondition("agent", metav1.ConditionFalse, modelv1.ReasonProgressing, "step 1 of 1", "kubectl modelbox promote agent")
	n.AwaitImages("agent", map[string]int{framework.Image: 1, framework.NewImage: 1})

	n.Abort("agent")
	n.AwaitReadyCondition("agent", metav1.ConditionFalse, modelv1.ReasonRolledBack, "aborted")
	n.AwaitImages("agent", map[string]int{framework.Image: 2})

	n.UpdateBox("agent", framework.WithImage("nginx:1.25"))
	n.AwaitStep("agent", 1, 50)
	n.Promote("agent")
	n.AwaitReady("agent")
	n.AwaitImages("agent", map[string]int{"nginx:1.25": 2})
}

// TestBlueGreen starts all pods of a new image beside the stable pods, and then gives them the traffic at once.
func TestBlueGreen(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2),
		framework.WithSteps(modelv1.RolloutBlueGreen, modelv1.ModelBoxRolloutStep{Pause: modelv1.PauseManual})))
	expectCapacity(n, "web", 2)
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitStep("web", 1, 0)
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonProgressing, "step 1 of 1", "without traffic", "kubectl modelbox promote web")
	awaitReplicas(n, "web", 2, 2)
	expectSelected(n, "web", framework.Image)
	expectSelected(n, helper.CandidateName("web"), framework.NewImage)
	n.ExpectConverged("web")

	n.Promote("web")
	n.AwaitBox("web", "leads to the candidate", func(box *modelv1.ModelBox) error {
		if traffic := box.Status.Rollout.Traffic; traffic == nil || traffic.Service != modelv1.TrafficToCandidate {
			return fmt.Errorf("its traffic is %+v", traffic)
		}
		return nil
	})
	n.AwaitReady("web")
	awaitNoCandidate(n, "web")
	n.AwaitImages("web", map[string]int{framework.NewImage: 2})
	framework.ExpectEqual(t, "selector of the Service", map[string]string{modelv1.SelectorLabel: "web"}, n.GetService("web").Spec.Selector)
}

// expectWeights rolls a new image of a box with a route out: the candidate gets exactly its weight, once it is available.
func expectWeights(n *framework.Namespace, client gatewayclient.Interface, name string) {
	n.T.Helper()
	n.UpdateBox(name, framework.WithSteps(modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 10, Pause: modelv1.PauseManual}))
	n.AwaitReady(name)
	n.UpdateBox(name, framework.WithImage(framework.NewImage))
	n.AwaitStep(name, 1, 10)
	n.Eventually("the route has the weights", func() error {
		route, err := client.GatewayV1().HTTPRoutes(n.Name).Get(n.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		weights := map[string]int32{}
		for _, backend := range route.Spec.Rules[0].BackendRefs {
			weights[string(backend.Name)] = *backend.Weight
		}
		if len(weights) != 2 || weights[name] != 90 || weights[helper.CandidateName(name)] != 10 {
			return fmt.Errorf("they are %v", weights)
		}
		return nil
	})
	expectSelected(n, name, framework.Image)
	n.ExpectConverged(name)
	n.Promote(name)
	n.AwaitReady(name)
	awaitNoCandidate(n, name)
}

// awaitReplicas waits until the Deployment of the box and its candidate have the numbers of available pods.
func awaitReplicas(n *framework.Namespace, name string, stable, candidate int32) {
	n.T.Helper()
	for deployment, want := range map[string]int32{name: stable, helper.CandidateName(name): candidate} {
		n.AwaitDeployment(deployment, fmt.Sprintf("has %d available pods", want), func(deployment *appsv1.Deployment) error {
			if status := deployment.Status; *deployment.Spec.Replicas != want || status.Replicas != want || status.AvailableReplicas != want {
				return fmt.Errorf("%d of %d are available", status.AvailableReplicas, status.Replicas)
			}
			return nil
		})
	}
}

// awaitNoCandidate waits until there is neither a candidate of the box nor anything of it.
func awaitNoCandidate(n *framework.Namespace, name string) {
	n.T.Helper()
	n.Eventually("the candidate is gone", func() error {
		for _, list := range []func(metav1.ListOptions) (int, error){
			func(options metav1.ListOptions) (int, error) {
				list, err := n.Deployments.List(n.Ctx, options)
				return len(list.Items), err
			},
			func(options metav1.ListOptions) (int, error) {
				list, err := n.Services.List(n.Ctx, options)
				return len(list.Items), err
			},
			func(options metav1.ListOptions) (int, error) {
				list, err := n.Pods.List(n.Ctx, options)
				return len(list.Items), err
			},
		} {
			options := metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + name + "," + modelv1.CandidateLabel}
			if count, err := list(options); err != nil || count > 0 {
				return fmt.Errorf("%d left: %w", count, err)
			}
		}
		return nil
	})
}

// expectSelected expects that the Service leads to pods, all of them with the image.
func expectSelected(n *framework.Namespace, service, image string) {
	n.T.Helper()
	selector := metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: n.GetService(service).Spec.Selector})
	pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		n.T.Fatal(err)
	}
	if len(pods.Items) == 0 {
		n.T.Errorf("Service %s leads to no pods", service)
	}
	for i := range pods.Items {
		framework.ExpectEqual(n.T, "image of pod "+pods.Items[i].Name, image, pods.Items[i].Spec.Containers[0].Image)
	}
}

// expectCapacity fails the test if fewer than that many pods of the box are ready at any time until its end.
func expectCapacity(n *framework.Namespace, name string, want int) {
	n.T.Helper()
	list, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + name})
	if err != nil {
		n.T.Fatal(err)
	}
	ready := map[string]bool{}
	for i := range list.Items {
		ready[list.Items[i].Name] = podutils.IsPodReady(&list.Items[i])
	}
	pods, err := n.Pods.Watch(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + name, ResourceVersion: list.ResourceVersion})
	if err != nil {
		n.T.Fatal(err)
	}
	var (
		reading sync.WaitGroup
		least   = want
		which   map[string]bool
	)
	reading.Go(func() {
		for event := range pods.ResultChan() {
			pod, isPod := event.Object.(*corev1.Pod)
			if !isPod {
				continue
			}
			ready[pod.Name] = podutils.IsPodReady(pod) && pod.DeletionTimestamp == nil && event.Type != "DELETED"
			count := 0
			for _, isReady := range ready {
				if isReady {
					count++
				}
			}
			if count < least {
				least, which = count, map[string]bool{}
				for name, isReady := range ready {
					which[name] = isReady
				}
			}
		}
	})
	n.T.Cleanup(func() {
		pods.Stop()
		reading.Wait()
		if least < want {
			n.T.Errorf("only %d pods of %d were ready at once: %v", least, want, which)
		}
	})
}
