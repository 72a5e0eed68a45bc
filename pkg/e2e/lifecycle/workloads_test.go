// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// eachWorkload runs the test with a box of each kind of workload, with two pods, because a simulated cluster has two nodes.
func eachWorkload(t *testing.T, test func(n *framework.Namespace, kind modelv1.Workload)) {
	t.Parallel()
	for _, kind := range framework.Workloads {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(kind)))
			test(n, kind)
		})
	}
}

func TestUpdateOfABoxRollsItsWorkload(t *testing.T) {
	eachWorkload(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.AwaitPods("web", 2)
		before := n.PodUIDs("web")
		n.Events.Await("web", "Created"+string(kind))
		n.Events.Await("web", "RolloutComplete", "2 of 2 replicas are available")

		n.UpdateBox("web", framework.WithImage(framework.NewImage))
		box := n.AwaitReady("web")
		framework.ExpectEqual(n.T, "updated replicas", int32(2), box.Status.UpdatedReplicas)
		framework.ExpectEqual(n.T, "image", framework.NewImage, n.GetWorkload(kind, "web").Template.Spec.Containers[0].Image)
		n.Eventually("no pod is left of those before", func() error {
			for name, uid := range n.PodUIDs("web") {
				if before[name] == uid {
					return fmt.Errorf("pod %s is the same", name)
				}
			}
			return nil
		})
		n.Events.Await("web", "Updated"+string(kind))
		for _, condition := range []string{modelv1.ConditionAvailable, modelv1.ConditionApplied} {
			if err := framework.CheckCondition(box, condition, metav1.ConditionTrue, ""); err != nil {
				n.T.Error(err)
			}
		}
	})
}

func TestUnschedulableWorkloadIsNotReadyAndSaysWhy(t *testing.T) {
	t.Parallel()
	// It is no failure if no node must run a pod of a DaemonSet.
	for kind, want := range map[modelv1.Workload]struct {
		status          metav1.ConditionStatus
		reason, message string
	}{
		modelv1.WorkloadDeployment:  {metav1.ConditionFalse, "Unschedulable", "nodes are available"},
		modelv1.WorkloadStatefulSet: {metav1.ConditionFalse, "Unschedulable", "nodes are available"},
		modelv1.WorkloadDaemonSet:   {metav1.ConditionTrue, "Ready", "no node is to run a pod of the DaemonSet"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateBox(framework.NewBox("web", framework.WithWorkload(kind), framework.Unschedulable))
			n.AwaitReadyCondition("web", want.status, want.reason, want.message)
		})
	}
}

// StatefulSets and DaemonSets have no condition with the reason why their pods are not created.
func TestPodsThatCannotBeCreatedAreWhyABoxIsNotReady(t *testing.T) {
	t.Parallel()
	for _, kind := range framework.Workloads {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			quotas := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name)
			if _, err := quotas.Create(n.Ctx, &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Name: "one-pod"},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
			}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			n.Eventually("the cluster counts pods", func() error {
				quota, err := quotas.Get(n.Ctx, "one-pod", metav1.GetOptions{})
				if err == nil && quota.Status.Used == nil {
					err = errors.New("the quota has no status")
				}
				return err
			})
			n.CreateBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(kind)))
			n.AwaitReadyCondition("web", metav1.ConditionFalse, "FailedCreate", "exceeded quota: one-pod")
			n.Events.Await("web", "FailedCreate", "exceeded quota")
		})
	}
}

func TestAutoscalerOfAStatefulSetKeepsItsReplicas(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(modelv1.WorkloadStatefulSet)))
	before := n.PodUIDs("web")
	n.Autoscale("statefulset/web", 3)
	n.AwaitPods("web", 3)
	n.UpdateBox("web", framework.WithReplicas(1))
	n.AwaitReady("web")
	for name, uid := range before {
		framework.ExpectEqual(t, "UID of "+name, uid, n.PodUIDs("web")[name])
	}
	framework.ExpectEqual(t, "replicas", int32(3), *n.GetWorkload(modelv1.WorkloadStatefulSet, "web").Replicas)

	n.Kubectl.Run("delete", "hpa", "web")
	n.UpdateBox("web", framework.WithReplicas(2))
	n.AwaitPods("web", 2)
}

func TestPartitionOfAStatefulSetIsLeftAndTold(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(modelv1.WorkloadStatefulSet)))
	n.PatchWorkload(modelv1.WorkloadStatefulSet, "web", `[{"op": "add", "path": "/spec/updateStrategy/rollingUpdate", "value": {"partition": 1}}]`)
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonStatefulSetPartitioned,
		"1 out of 2 new replicas have been updated; "+framework.OtherManager+" has set the partition of the StatefulSet to 1")
	n.Events.Await("web", "StatefulSetPartitioned")
	n.PatchWorkload(modelv1.WorkloadStatefulSet, "web", `[{"op": "replace", "path": "/spec/updateStrategy/rollingUpdate/partition", "value": 0}]`)
	n.AwaitReady("web")
}

// TestFailedUpdateOfAStatefulSetCanBeTakenBack checks that a failed update can be reverted. The StatefulSet controller alone would
// wait forever for the pod of the update.
func TestFailedUpdateOfAStatefulSetCanBeTakenBack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(modelv1.WorkloadStatefulSet)))
	n.UpdateBox("web", framework.Unschedulable)
	n.AwaitReadyCondition("web", metav1.ConditionFalse, corev1.PodReasonUnschedulable, "pod web-1: ")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.PodTemplate = nil })
	n.AwaitReady("web")
	n.Events.Await("web", "DeletedPod", "Deleted pod web-1 of former revision web-")
}

func TestPausedBoxLeavesItsWorkloadAlone(t *testing.T) {
	eachWorkload(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.UpdateBox("web", framework.Pause)
		n.AwaitReady("web")
		n.UpdateBox("web", framework.WithImage(framework.NewImage))
		n.AwaitPaused("web")
		framework.ExpectEqual(n.T, "image", framework.Image, n.GetWorkload(kind, "web").Template.Spec.Containers[0].Image)
		n.UpdateBox("web", framework.Unpause)
		n.AwaitReady("web")
		framework.ExpectEqual(n.T, "image", framework.NewImage, n.GetWorkload(kind, "web").Template.Spec.Containers[0].Image)
	})
}

func TestDeletedBoxTakesItsWorkloadAlong(t *testing.T) {
	eachWorkload(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.Kubectl.Run("delete", "mb", "web", "--cascade=foreground", "--timeout="+framework.Patience.String())
		if _, err := n.FindWorkload(kind, "web"); !apierrors.IsNotFound(err) {
			n.T.Errorf("the %s: %v", kind, err)
		}
		n.Eventually("pods and Services are gone", func() error {
			if left := strings.TrimSpace(n.Kubectl.Run("get", "pods,services", "--output=name")); left != "" {
				return errors.New(left)
			}
			return nil
		})
	})
}
