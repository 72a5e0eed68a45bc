// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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
)

// TestBoxWithFailingPodsIsNotReady: a box whose pods do not run says so, and why, in the words of the cluster.
func TestBoxWithFailingPodsIsNotReady(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// prepare makes pods of the namespace fail that are yet to be created, fail those that run. Nil is nothing.
		prepare func(n *namespace)
		fail    func(n *namespace)
		box     func(*modelv1.ModelBoxSpec)
		reason  string
		message []string
	}{
		{
			name: "a container that crashes again and again",
			box:  withReplicas(2),
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
			box:  withReplicas(2),
			fail: failContainer(corev1.ContainerStatus{
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "nginx:1.7.9"`}},
			}),
			reason:  "ImagePullBackOff",
			message: []string{"container web", `Back-off pulling image "nginx:1.7.9"`},
		},
		{
			name:    "a pod that fits no node",
			box:     nowhere,
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
			box:  withReplicas(0),
			fail: func(n *namespace) {
				restrictedPods(n)
				n.change("web", withReplicas(1))
			},
			reason:  "FailedCreate",
			message: []string{"violates PodSecurity", "runAsNonRoot"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			if test.prepare != nil {
				test.prepare(n)
			}
			n.create(newBox("web", test.box))
			if test.fail != nil {
				n.awaitReady("web")
				test.fail(n)
			}
			n.awaitFailing("web", test.reason, test.message)
		})
	}
	t.Run("a rollout that has taken too long", rolloutStalls)
}

// awaitFailing waits until conditions, and the table, tell why the pods of a box do not run.
func (n *namespace) awaitFailing(name, reason string, message []string) {
	n.t.Helper()
	n.awaitBox(name, "says what is wrong with its pods", func(box *modelv1.ModelBox) error {
		if err := hasCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, reason); err != nil {
			return err
		}
		if ready := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady); !containsAll(ready.Message, message) {
			return fmt.Errorf("its message is %q, want %q in it", ready.Message, message)
		}
		return hasCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, "")
	})
	if table := n.kubectl("get", "modelbox", name, "--output=wide"); !containsAll(table, append(message, " "+reason+" ")) {
		n.t.Errorf("the table does not say %s and %q:\n%s", reason, message, table)
	}
}

// failContainer gives one pod of box "web" a main container in another state. Its simulated node leaves pods alone that
// it has started.
func failContainer(status corev1.ContainerStatus) func(n *namespace) {
	status.Name, status.Image = "web", image
	return func(n *namespace) {
		pod, err := n.pods.Get(n.ctx, n.box("web").Status.PodNames[0], metav1.GetOptions{})
		if err != nil {
			n.t.Fatal(err)
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		for i := range pod.Status.Conditions {
			if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady || condition.Type == corev1.ContainersReady {
				condition.Status, condition.Reason = corev1.ConditionFalse, "ContainersNotReady"
			}
		}
		if _, err := n.pods.UpdateStatus(n.ctx, pod, metav1.UpdateOptions{}); err != nil {
			n.t.Fatal(err)
		}
	}
}

func nowhere(spec *modelv1.ModelBoxSpec) {
	withPodTemplate(corev1.PodSpec{NodeSelector: map[string]string{"example.com/node": "none"}})(spec)
}

func noPods(n *namespace) {
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	if _, err := plane.kube.CoreV1().ResourceQuotas(n.name).Create(n.ctx, quota, metav1.CreateOptions{}); err != nil {
		n.t.Fatal(err)
	}
	n.awaitPodsRefused("exceeded quota")
}

func restrictedPods(n *namespace) {
	_, err := plane.kube.CoreV1().Namespaces().Patch(n.ctx, n.name, types.MergePatchType,
		[]byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`), metav1.PatchOptions{})
	if err != nil {
		n.t.Fatal(err)
	}
	n.awaitPodsRefused("violates PodSecurity")
}

// awaitPodsRefused waits until the cluster enforces what it was told.
func (n *namespace) awaitPodsRefused(why string) {
	n.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: image}}},
	}
	n.eventually("the cluster refuses pods", func() error {
		_, err := n.pods.Create(n.ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("creating a pod: %v", err)
		}
		return nil
	})
}

// rolloutStalls: a box has ten minutes for a rollout. Somebody else gives it less, which the box leaves to them.
func rolloutStalls(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.create(newBox("web", nowhere))
	n.awaitFailing("web", corev1.PodReasonUnschedulable, nil)
	n.patchDeployment("web", `[{"op": "replace", "path": "/spec/progressDeadlineSeconds", "value": 2}]`)
	n.awaitBox("web", "says that it does not get further", func(box *modelv1.ModelBox) error {
		return errors.Join(
			hasCondition(box, modelv1.ConditionProgressing, metav1.ConditionFalse, modelv1.ReasonProgressDeadlineExceeded),
			hasCondition(box, modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonProgressDeadlineExceeded),
			hasCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, corev1.PodReasonUnschedulable),
		)
	})
	n.awaitEvent("web", "RolloutStalled")
}
