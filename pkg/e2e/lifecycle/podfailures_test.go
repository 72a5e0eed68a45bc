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
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestBoxWithFailingPodsIsNotReady checks that the status of a box has the reason of the cluster why its pods do not run.
func TestBoxWithFailingPodsIsNotReady(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// prepare makes new pods of the namespace fail, and fail makes running pods fail. nil does nothing.
		prepare func(n *framework.Namespace)
		fail    func(n *framework.Namespace)
		box     func(*modelv1.ModelBoxSpec)
		reason  string
		message []string
	}{
		{
			name: "a container that crashes again and again",
			box:  framework.WithReplicas(2),
			fail: failContainer(corev1.ContainerStatus{
				State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting failed container"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 3}},
				RestartCount:         4,
			}),
			reason:  "CrashLoopBackOff",
			message: []string{"container web", "back-off 5m0s restarting failed container", "restarted 4 times", "exit code 3"},
		},
		{
			name: "an image that cannot be pulled",
			box:  framework.WithReplicas(2),
			fail: failContainer(corev1.ContainerStatus{
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "nginx:1.7.9"`}},
			}),
			reason:  "ImagePullBackOff",
			message: []string{"container web", `Back-off pulling image "nginx:1.7.9"`},
		},
		{
			name:    "a pod that fits no node",
			box:     framework.Unschedulable,
			reason:  corev1.PodReasonUnschedulable,
			message: []string{"nodes are available", "node affinity/selector"},
		},
		{
			name:    "a quota for pods",
			prepare: noPods,
			box:     asItIs,
			reason:  "FailedCreate",
			message: []string{"exceeded quota: none", "pods=1"},
		},
		{
			name: "a policy for pods that came after the box",
			box:  framework.WithReplicas(0),
			fail: func(n *framework.Namespace) {
				restrictedPods(n)
				n.UpdateBox("web", framework.WithReplicas(1))
			},
			reason:  "FailedCreate",
			message: []string{"violates PodSecurity", "runAsNonRoot"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			if test.prepare != nil {
				test.prepare(n)
			}
			n.CreateBox(framework.NewBox("web", test.box))
			if test.fail != nil {
				n.AwaitReady("web")
				test.fail(n)
			}
			awaitFailing(n, "web", test.reason, test.message)
		})
	}
	t.Run("a rollout that has taken too long", rolloutStalls)
}

// awaitFailing waits until the conditions and the table have the reason why the pods of a box do not run.
func awaitFailing(n *framework.Namespace, name, reason string, message []string) {
	n.T.Helper()
	n.AwaitBox(name, "says what is wrong with its pods", func(box *modelv1.ModelBox) error {
		if err := framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, reason); err != nil {
			return err
		}
		if ready := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady); !framework.ContainsAll(ready.Message, message) {
			return fmt.Errorf("its message is %q, want %q in it", ready.Message, message)
		}
		return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, "")
	})
	if table := n.Kubectl.Run("get", "modelbox", name, "--output=wide"); !framework.ContainsAll(table, append(message, " "+reason+" ")) {
		n.T.Errorf("the table does not say %s and %q:\n%s", reason, message, table)
	}
}

// failContainer sets the state of the main container of one pod of box "web". Its simulated node does not change pods that it has
// started.
func failContainer(status corev1.ContainerStatus) func(n *framework.Namespace) {
	status.Name, status.Image = "web", framework.Image
	return func(n *framework.Namespace) {
		pod, err := n.Pods.Get(n.Ctx, n.GetBox("web").Status.PodNames[0], metav1.GetOptions{})
		if err != nil {
			n.T.Fatal(err)
		}
		if err := failPod(n, pod, status); err != nil {
			n.T.Fatal(err)
		}
	}
}

// failPod sets the state of the main container of the pod, and makes it not ready.
func failPod(n *framework.Namespace, pod *corev1.Pod, status corev1.ContainerStatus) error {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady || condition.Type == corev1.ContainersReady {
			condition.Status, condition.Reason = corev1.ConditionFalse, "ContainersNotReady"
		}
	}
	_, err := n.Pods.UpdateStatus(n.Ctx, pod, metav1.UpdateOptions{})
	return err
}

func noPods(n *framework.Namespace) {
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	if _, err := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name).Create(n.Ctx, quota, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	awaitPodsRefused(n, "exceeded quota")
}

func restrictedPods(n *framework.Namespace) {
	_, err := n.ControlPlane.KubeClient.CoreV1().Namespaces().Patch(n.Ctx, n.Name, types.MergePatchType,
		[]byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`), metav1.PatchOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	awaitPodsRefused(n, "violates PodSecurity")
}

// awaitPodsRefused waits until the cluster refuses pods.
func awaitPodsRefused(n *framework.Namespace, why string) {
	n.T.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: framework.Image}}},
	}
	n.Eventually("the cluster refuses pods", func() error {
		_, err := n.Pods.Create(n.Ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("creating a pod: %v", err)
		}
		return nil
	})
}

// rolloutStalls sets a short progress deadline on the Deployment as another client, because the default is ten minutes. The
// controller does not change it.
func rolloutStalls(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox("web", framework.Unschedulable))
	awaitFailing(n, "web", corev1.PodReasonUnschedulable, nil)
	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/progressDeadlineSeconds", "value": 2}]`)
	n.AwaitBox("web", "says that it does not get further", func(box *modelv1.ModelBox) error {
		return errors.Join(
			framework.CheckCondition(box, modelv1.ConditionProgressing, metav1.ConditionFalse, modelv1.ReasonProgressDeadlineExceeded),
			framework.CheckCondition(box, modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonProgressDeadlineExceeded),
			framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, corev1.PodReasonUnschedulable),
		)
	})
	n.Events.Await("web", "RolloutStalled")
}
