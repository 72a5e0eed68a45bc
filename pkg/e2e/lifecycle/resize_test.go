// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func withResize(mode modelv1.ResizeMode) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) { spec.Resize = &modelv1.ModelBoxResize{Mode: mode} }
}

// withMemory limits the memory of the main container.
func withMemory(quantity string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}}
	}
}

// TestPodsAreResizedInPlace changes the memory of boxes with all that depends on their pods. The kubelets of simulated nodes take the
// resources of pods without any further step.
func TestPodsAreResizedInPlace(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*modelv1.ModelBoxSpec){
		"plain": func(*modelv1.ModelBoxSpec) {},
		"in steps": func(spec *modelv1.ModelBoxSpec) {
			spec.Rollout = &modelv1.ModelBoxRollout{
				OnFailure: modelv1.RolloutFailureRollback, Type: ptr.To(modelv1.RolloutCanary), Steps: []modelv1.ModelBoxRolloutStep{{Weight: 50, Pause: modelv1.PauseManual}},
			}
		},
		"StatefulSet": framework.WithWorkload(modelv1.WorkloadStatefulSet),
		"DaemonSet":   framework.WithWorkload(modelv1.WorkloadDaemonSet),
		"with Jobs": func(spec *modelv1.ModelBoxSpec) {
			spec.Before, spec.After = &modelv1.ModelBoxJob{Command: []string{"migrate"}}, &modelv1.ModelBoxJob{Command: []string{"test"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(3), withResize(modelv1.ResizeInPlaceOrRestart), withMemory("64Mi"), change))
			before, revisions := n.PodUIDs("web"), replicaSetsOf(n)
			jobs := n.Kubectl.Run("get", "jobs", "--output=name")

			const patch = `--patch={"spec":{"resources":{"limits":{"memory":"128Mi"}}}}`
			run := framework.RunKubectl(n.Kubectl.Command("patch", "modelbox/web", "--type=merge", patch), "")
			pods := fmt.Sprintf("%d pods", len(before))
			if want := "resizes " + pods + " in place, and restarts none"; run.Err != nil || !strings.Contains(run.Stderr, want) {
				t.Errorf("want %q, got %q, %v", want, run.Stderr, run.Err)
			}
			awaitResized(n, "web", "128Mi")
			framework.ExpectEqual(t, "pods", before, n.PodUIDs("web"))
			framework.ExpectEqual(t, "ReplicaSets", revisions, replicaSetsOf(n))
			framework.ExpectEqual(t, "Jobs", jobs, n.Kubectl.Run("get", "jobs", "--output=name"))
			n.Events.Await("web", "Resized", pods)
			n.ExpectConverged("web")

			if name == "DaemonSet" {
				return
			}
			// New pods have the new resources, also if an autoscaler adds them in the middle of a resize.
			n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
				withMemory("256Mi")(spec)
				spec.Replicas = ptr.To[int32](5)
			})
			n.AwaitPods("web", 5)
			awaitResized(n, "web", "256Mi")
			for name, uid := range before {
				if n.PodUIDs("web")[name] != uid {
					t.Errorf("pod %s was replaced", name)
				}
			}

			// What else changes replaces the pods.
			if name == "plain" {
				n.UpdateBox("web", framework.WithImage(framework.NewImage))
				n.AwaitReady("web")
				awaitResized(n, "web", "256Mi")
			}
		})
	}
}

// replicaSetsOf returns the names and the revisions of the ReplicaSets of the namespace.
func replicaSetsOf(n *framework.Namespace) string {
	return n.Kubectl.Run("get", "replicasets", `--output=jsonpath={range .items[*]}{.metadata.name} {.metadata.annotations.deployment\.kubernetes\.io/revision}{"\n"}{end}`)
}

// awaitResized waits until the box is Ready and its pods and their workload have the limit.
func awaitResized(n *framework.Namespace, box, memory string) {
	n.T.Helper()
	n.AwaitResized(box)
	check := func(spec *corev1.PodSpec) error {
		if limit := spec.Containers[0].Resources.Limits.Memory(); limit.Cmp(resource.MustParse(memory)) != 0 {
			return fmt.Errorf("the limit is %s", limit)
		}
		return nil
	}
	n.AwaitWorkload(n.GetBox(box).Spec.Workload, box, "has "+memory+" and is not halted", func(workload framework.Workload) error {
		isHalted := false
		switch object := workload.Object.(type) {
		case *appsv1.Deployment:
			isHalted = object.Spec.Paused
		case *appsv1.StatefulSet:
			isHalted = object.Spec.UpdateStrategy.RollingUpdate != nil && ptr.Deref(object.Spec.UpdateStrategy.RollingUpdate.Partition, 0) > 0
		case *appsv1.DaemonSet:
			isHalted = object.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
		}
		if isHalted {
			return errors.New("it is halted")
		}
		return check(&workload.Template.Spec)
	})
	n.Eventually("all pods have "+memory, func() error {
		pods, err := n.LivePods(box)
		for i := range pods {
			err = errors.Join(err, check(&pods[i].Spec))
		}
		return err
	})
}

// podsOfSampleAreResized is the promise of resize.yaml.
func podsOfSampleAreResized(n *framework.Namespace) {
	before := n.PodUIDs("resized")
	n.UpdateBox("resized", func(spec *modelv1.ModelBoxSpec) {
		spec.Resources.Limits[corev1.ResourceMemory] = resource.MustParse("256Mi")
	})
	awaitResized(n, "resized", "256Mi")
	framework.ExpectEqual(n.T, "pods", before, n.PodUIDs("resized"))
}

// TestPodsThatCannotBeResized changes the QoS class of pods, and then lets a quota refuse them.
func TestPodsThatCannotBeResized(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), withResize(modelv1.ResizeInPlaceOnly), withMemory("64Mi")))
	before := n.PodUIDs("web")
	guaranteed := func(spec *modelv1.ModelBoxSpec) {
		withMemory("64Mi")(spec)
		spec.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("100m")
	}
	n.UpdateBox("web", guaranteed)
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonResizeInfeasible, "QoS class", "Guaranteed")
	n.UpdateBox("web", withMemory("64Mi"))
	awaitResized(n, "web", "64Mi")

	n.Kubectl.Run("create", "quota", "memory", "--hard=limits.memory=128Mi")
	n.Kubectl.Run("wait", "quota/memory", "--for=jsonpath={.status.used.limits\\.memory}=128Mi", "--timeout=1m")
	n.UpdateBox("web", withMemory("96Mi"))
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonResizeDeferred, "exceeded quota")
	framework.ExpectEqual(t, "pods", before, n.PodUIDs("web"))
	n.Kubectl.Run("patch", "quota/memory", "--type=merge", `--patch={"spec":{"hard":{"limits.memory":"1Gi"}}}`)
	awaitResized(n, "web", "96Mi")
	framework.ExpectEqual(t, "pods", before, n.PodUIDs("web"))

	// With the other mode, the same change replaces the pods.
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		withResize(modelv1.ResizeInPlaceOrRestart)(spec)
		guaranteed(spec)
	})
	awaitResized(n, "web", "64Mi")
	for name := range before {
		if _, isThere := n.PodUIDs("web")[name]; isThere {
			t.Errorf("pod %s was not replaced", name)
		}
	}
}
