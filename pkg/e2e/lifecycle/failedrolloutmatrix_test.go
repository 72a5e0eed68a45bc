// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubectl/pkg/util/podutils"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// holdingGate keeps pods from simulated nodes, which would start them: what has become of their containers is said by a test.
const holdingGate = "example.com/held"

// held holds the pods of a new image.
func held(spec *modelv1.ModelBoxSpec) {
	spec.Image = framework.NewImage
	spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: holdingGate}}}}
}

func isHeld(pod *corev1.Pod) bool { return len(pod.Spec.SchedulingGates) > 0 }

// rolloutFailure is a way for a rollout to fail.
type rolloutFailure struct {
	name string
	// container is the state of the container of the first new pod. Nil leaves the pod as it is.
	container *corev1.ContainerStatus
	// isReadyFirst says that the first new pod is ready until the rollout has created the next one.
	isReadyFirst bool
	// refusesPods says that the cluster refuses new pods.
	refusesPods bool
	deadline    int32
	reason      string
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

var crashed = &corev1.ContainerStatus{
	State:                waiting("CrashLoopBackOff", "back-off 10s restarting failed container"),
	LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 3}},
	RestartCount:         1,
}

var rolloutFailures = []rolloutFailure{
	{
		name: "bad image", deadline: 600, reason: "ImagePullBackOff",
		container: &corev1.ContainerStatus{State: waiting("ImagePullBackOff", `Back-off pulling image "nginx:1.8"`)},
	},
	{name: "crash at start", deadline: 600, reason: "CrashLoopBackOff", container: crashed},
	{name: "crash after a minute", deadline: 600, reason: "CrashLoopBackOff", container: crashed, isReadyFirst: true},
	{name: "never ready", deadline: 5, reason: modelv1.ReasonProgressDeadlineExceeded},
	{
		name: "missing Secret", deadline: 600, reason: "CreateContainerConfigError",
		container: &corev1.ContainerStatus{State: waiting("CreateContainerConfigError", `secret "nope" not found`)},
	},
	{name: "quota", refusesPods: true, deadline: 5, reason: modelv1.ReasonProgressDeadlineExceeded},
}

// rolloutPhases are what becomes of a rollout that has failed.
var rolloutPhases = []struct {
	policy modelv1.RolloutFailurePolicy
	phase  modelv1.RolloutPhase
}{
	{modelv1.RolloutFailureNone, modelv1.RolloutFailed},
	{modelv1.RolloutFailurePause, modelv1.RolloutPaused},
	{modelv1.RolloutFailureRollback, modelv1.RolloutRolledBack},
}

// TestFailedRollouts lets the rollouts of each kind of workload fail in each way, with each reaction of the server, and expects the other
// pods to serve, and no further new pods. Then a change of the box ends the failed rollout. Without MODELBOX_E2E_PAIRS it tries every
// pair of a workload, a failure and a reaction, and with it all three together. A rollout that is not rolled back is tried again first.
func TestFailedRollouts(t *testing.T) {
	t.Parallel()
	for w, workload := range framework.Workloads {
		for f := range rolloutFailures {
			failure := &rolloutFailures[f]
			for p, reaction := range rolloutPhases {
				if os.Getenv("MODELBOX_E2E_PAIRS") == "" && (w+f+p)%len(rolloutPhases) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, %s", workload, failure.name, reaction.policy), func(t *testing.T) {
					t.Parallel()
					failRollout(framework.NewNamespace(t), workload, failure, reaction.policy, reaction.phase)
				})
			}
		}
	}
}

func failRollout(n *framework.Namespace, workload modelv1.Workload, failure *rolloutFailure, policy modelv1.RolloutFailurePolicy, phase modelv1.RolloutPhase) {
	first := n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(workload), func(spec *modelv1.ModelBoxSpec) {
		spec.Rollout = &modelv1.ModelBoxRollout{OnFailure: policy, MaxRestarts: ptr.To[int32](0)}
		spec.ProgressDeadlineSeconds = ptr.To(failure.deadline)
	}))
	all := first.Status.AvailableReplicas
	if failure.refusesPods {
		noPods(n)
		n.UpdateBox("web", framework.WithImage(framework.NewImage))
	} else {
		n.UpdateBox("web", held)
	}
	// Others than a Deployment delete a pod before they create the new one.
	serving := all
	if workload != modelv1.WorkloadDeployment && (failure.refusesPods || policy != modelv1.RolloutFailureRollback) {
		serving--
	}
	if failure.isReadyFirst && policy != modelv1.RolloutFailureRollback {
		serving-- // The first new pod had replaced another one.
	}
	started := sets.New[types.UID]()
	box := n.AwaitBox("web", "has failed as its spec says", func(box *modelv1.ModelBox) error {
		if err := failure.failNewPods(n, started); err != nil {
			return err
		}
		if rollout := box.Status.Rollout; rollout == nil || rollout.Phase != phase {
			return fmt.Errorf("its rollout is %+v", rollout)
		}
		if box.Status.AvailableReplicas != serving {
			return fmt.Errorf("%d pods are available, want %d", box.Status.AvailableReplicas, serving)
		}
		return framework.CheckCondition(box, modelv1.ConditionStalled, metav1.ConditionTrue, "")
	})
	t := n.T
	framework.ExpectEqual(t, "reason", failure.reason, box.Status.Rollout.Reason)
	framework.ExpectEqual(t, "image of the box", framework.NewImage, box.Spec.Image)
	framework.ExpectEqual(t, "generation of the stable revision", first.Generation, box.Status.Rollout.Stable.Generation)
	wantStarted := 1
	switch {
	case failure.refusesPods:
		wantStarted = 0
	case failure.isReadyFirst:
		wantStarted = 2
	}
	framework.ExpectEqual(t, "new pods that were created", wantStarted, started.Len())

	if failure.container != nil && policy != modelv1.RolloutFailureRollback {
		expectRetryDeletesPod(n, started)
	}
	if failure.refusesPods {
		if err := n.ControlPlane.KubeClient.CoreV1().ResourceQuotas(n.Name).Delete(n.Ctx, "none", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.PodTemplate, spec.Envs = nil, []corev1.EnvVar{framework.EnvValue("FIXED", "true")}
		spec.ProgressDeadlineSeconds = nil // A slow machine may need longer than the deadline.
	})
	box = n.AwaitReady("web")
	framework.ExpectEqual(t, "phase in the end", modelv1.RolloutComplete, box.Status.Rollout.Phase)
	framework.ExpectEqual(t, "available pods in the end", all, box.Status.AvailableReplicas)
}

// expectRetryDeletesPod tries the rollout again until the pod that has failed is deleted. A retry leaves a pod that was created in the
// same second.
func expectRetryDeletesPod(n *framework.Namespace, started sets.Set[types.UID]) {
	n.T.Helper()
	n.Eventually("a retry deletes the pod that has failed", func() error {
		if _, err := n.Boxes.CreateRetry(n.Ctx, "web", &modelv1.ModelBoxRetry{}, metav1.CreateOptions{}); err != nil && !apierrors.IsConflict(err) {
			return err
		}
		pods, err := n.LivePods("web")
		if err != nil {
			return err
		}
		for i := range pods {
			if started.Has(pods[i].UID) && len(pods[i].Status.ContainerStatuses) > 0 {
				return fmt.Errorf("pod %s is still there", pods[i].Name)
			}
		}
		return nil
	})
}

// failNewPods gives the container of the first held pod the states of the failure, and adds the held pods to those that were seen.
func (f *rolloutFailure) failNewPods(n *framework.Namespace, seen sets.Set[types.UID]) error {
	pods, err := n.LivePods("web")
	if err != nil {
		return err
	}
	pods = slices.DeleteFunc(pods, func(pod corev1.Pod) bool { return !isHeld(&pod) })
	for i := range pods {
		seen.Insert(pods[i].UID)
	}
	if f.container == nil {
		return nil
	}
	for i := range pods {
		pod := &pods[i]
		switch hasStarted := len(pod.Status.ContainerStatuses) > 0; {
		case f.isReadyFirst && !hasStarted && seen.Len() == 1:
			err = setReady(n, pod)
		case f.isReadyFirst && seen.Len() > 1 && podutils.IsPodReady(pod), !f.isReadyFirst && !hasStarted:
			container := *f.container
			container.Name, container.Image = "web", framework.NewImage
			err = failPod(n, pod, container)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setReady reports that the container of a held pod runs and is ready.
func setReady(n *framework.Namespace, pod *corev1.Pod) error {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", Image: framework.NewImage, Ready: true, State: running}}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()})
	_, err := n.Pods.UpdateStatus(n.Ctx, pod, metav1.UpdateOptions{})
	return err
}

// TestStatefulSetLeavesFailedRollout reverts the change of a StatefulSet whose first new pod never runs. The StatefulSet of a box
// gets its pod back. A plain StatefulSet waits forever for the pod to be ready before it replaces the pod:
// kubernetes/kubernetes#67250.
func TestStatefulSetLeavesFailedRollout(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	statefulSets := n.ControlPlane.KubeClient.AppsV1().StatefulSets(n.Name)
	labels := map[string]string{"app": "plain"}
	plain := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "plain"}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](2),
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: framework.Image}}},
		},
	}}
	if _, err := statefulSets.Create(n.Ctx, plain, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.CreateBox(framework.NewBox("web", framework.WithWorkload(modelv1.WorkloadStatefulSet), framework.WithReplicas(2)))
	n.Eventually("the plain StatefulSet is ready", func() error {
		set, err := statefulSets.Get(n.Ctx, plain.Name, metav1.GetOptions{})
		if err == nil && set.Status.ReadyReplicas != 2 {
			err = fmt.Errorf("%d pods are ready", set.Status.ReadyReplicas)
		}
		return err
	})
	n.AwaitReady("web")

	n.PatchWorkload(modelv1.WorkloadStatefulSet, plain.Name,
		fmt.Sprintf(`[{"op": "add", "path": "/spec/template/spec/schedulingGates", "value": [{"name": %q}]}]`, holdingGate))
	n.UpdateBox("web", held)
	for _, name := range []string{"plain-1", "web-1"} {
		n.Eventually(name+" is held", func() error {
			pod, err := n.Pods.Get(n.Ctx, name, metav1.GetOptions{})
			if err == nil && !isHeld(pod) {
				err = errors.New("it is not")
			}
			return err
		})
	}
	n.PatchWorkload(modelv1.WorkloadStatefulSet, plain.Name, `[{"op": "remove", "path": "/spec/template/spec/schedulingGates"}]`)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Image, spec.PodTemplate = framework.Image, nil })

	n.AwaitReady("web")
	pods, err := n.LivePods("web")
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) != 2 || slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return isHeld(&pod) }) {
		t.Errorf("the box has %d pods, and some are held", len(pods))
	}
	// If this fails, Kubernetes has fixed it.
	set, err := statefulSets.Get(n.Ctx, plain.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pod, err := n.Pods.Get(n.Ctx, "plain-1", metav1.GetOptions{}); err != nil || !isHeld(pod) || set.Status.ObservedGeneration != set.Generation {
		t.Errorf("the pod of the plain StatefulSet is held: %t, %v, at generation %d of %d", err == nil && isHeld(pod), err, set.Status.ObservedGeneration, set.Generation)
	}
}
