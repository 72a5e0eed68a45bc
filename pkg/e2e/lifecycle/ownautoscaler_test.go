// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// withAutoscaling sets an autoscaler of the box with the limits, by CPU utilization.
func withAutoscaling(minimum, maximum int32) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Resources = &corev1.ResourceRequirements{Requests: framework.Resources("10m", "")}
		spec.Autoscaling = &modelv1.ModelBoxAutoscaling{MinReplicas: &minimum, MaxReplicas: maximum, CPU: ptr.To[int32](70)}
	}
}

// TestBoxIsScaledByItsOwnAutoscaler checks that the autoscaler determines the number of pods until the box is stopped or has no
// autoscaler. There are no metrics in this cluster: autoscalers only apply their limits.
func TestBoxIsScaledByItsOwnAutoscaler(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox("web", withAutoscaling(2, 5), func(spec *modelv1.ModelBoxSpec) { spec.Replicas = nil }))
	n.AwaitPods("web", 2)
	n.UpdateBox("web", withAutoscaling(3, 5))
	n.AwaitPods("web", 3)
	framework.ExpectEqual(t, "replicas of the box", int32(3), *n.GetBox("web").Spec.Replicas)
	framework.ExpectEqual(t, "annotation of the Deployment", "", n.GetDeployment("web").Annotations[modelv1.AutoscaledAnnotation])

	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "not autoscaled: FailedGetResourceMetric")
	n.ExpectConverged("web")
	if wide := n.Kubectl.Run("get", "modelbox", "web", "--output=wide"); !strings.Contains(wide, "3-5, cpu 70%") {
		t.Error(wide)
	}

	for _, args := range [][]string{
		{"patch", "modelbox", "web", "--type=merge", `--patch={"spec": {"replicas": 1}}`},
		{"apply", "--server-side", "--force-conflicts", "--filename=-"},
	} {
		run := framework.RunKubectl(n.Kubectl.Command(args...), framework.Manifest("image: 'nginx:1.7.9', replicas: 1"))
		if run.Err != nil || !strings.Contains(run.Stderr, "spec.replicas: stays 3 and does not become 1") {
			t.Errorf("%s: %v %s", args[0], run.Err, run.Stderr)
		}
		framework.ExpectEqual(t, "replicas of the box after "+args[0], int32(3), *n.GetBox("web").Spec.Replicas)
	}

	n.Kubectl.Run("scale", "modelbox/web", "--replicas=0")
	n.AwaitPods("web", 0)
	n.Kubectl.Run("patch", "modelbox", "web", "--type=merge", `--patch={"spec": {"replicas": 1}}`)
	n.AwaitPods("web", 3)

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Autoscaling = nil })
	n.Events.Await("web", "PrunedHorizontalPodAutoscaler")
	n.UpdateBox("web", framework.WithReplicas(1))
	n.AwaitPods("web", 1)
}

// TestAutoscalerOfABoxIsKept edits and deletes the autoscaler of a box, and creates a box whose autoscaler already exists with
// another owner.
func TestAutoscalerOfABoxIsKept(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", withAutoscaling(1, 5)))
	autoscalers := n.ControlPlane.KubeClient.AutoscalingV2().HorizontalPodAutoscalers(n.Name)
	await := func(what string, check func(*autoscalingv2.HorizontalPodAutoscaler) error) {
		t.Helper()
		n.Eventually("the autoscaler "+what, func() error {
			autoscaler, err := autoscalers.Get(n.Ctx, "web", metav1.GetOptions{})
			if err != nil {
				return err
			}
			return check(autoscaler)
		})
	}
	isAsTheBoxSays := func(autoscaler *autoscalingv2.HorizontalPodAutoscaler) error {
		if autoscaler.Spec.MaxReplicas != 5 || autoscaler.Spec.ScaleTargetRef.Kind != "ModelBox" {
			return fmt.Errorf("it is %+v", autoscaler.Spec)
		}
		return nil
	}
	patch := func(name, patch string) {
		t.Helper()
		if _, err := autoscalers.Patch(n.Ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: framework.OtherManager}); err != nil {
			t.Fatal(err)
		}
	}

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Autoscaling.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: ptr.To[int32](60)}}
	})
	n.AwaitApplied("web")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Autoscaling.Behavior = nil })
	await("has the behavior of the cluster", func(autoscaler *autoscalingv2.HorizontalPodAutoscaler) error {
		if behavior := autoscaler.Spec.Behavior; behavior != nil && behavior.ScaleDown != nil && behavior.ScaleDown.StabilizationWindowSeconds != nil {
			return errors.New("it has the window of the box")
		}
		return nil
	})
	// The cluster has reconciled the autoscaler. Without metrics, its status does not change again.
	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "not autoscaled")
	n.ExpectConverged("web")

	patch("web", `{"spec": {"maxReplicas": 9, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment"}}}`)
	await("is as the box says after an edit", isAsTheBoxSays)
	n.Events.Await("web", "RestoredHorizontalPodAutoscaler", framework.OtherManager)
	n.Kubectl.Run("delete", "hpa", "web")
	await("is back", isAsTheBoxSays)

	n.Kubectl.Run("create", "deployment", "other", "--image=nginx:1.7.9")
	n.Kubectl.Run("autoscale", "deployment/other", "--name=owned", "--min=1", "--max=2", "--cpu=50%")
	n.CreateBox(framework.NewBox("owned", withAutoscaling(1, 5)))
	n.AwaitNotOwned("owned")
	n.Kubectl.Run("annotate", "modelbox", "owned", modelv1.AdoptAnnotation+"=true")
	n.AwaitReady("owned")
	owned, err := autoscalers.Get(n.Ctx, "owned", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := isAsTheBoxSays(owned); err != nil {
		t.Errorf("after its adoption %v", err)
	}
}
