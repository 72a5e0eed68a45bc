// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// nodeFinalizer keeps a pod after its deletion, like a node that does not report that its containers have ended.
const nodeFinalizer = "example.com/node"

// TestNodeOfNewPodFails lets the node of the first new pod of a rollout fail. A Deployment gets another pod, and completes its rollout. The
// others wait for the node until their deadline. When the node works again, the rollout ends as the box says.
func TestNodeOfNewPodFails(t *testing.T) {
	t.Parallel()
	for _, workload := range framework.Workloads {
		for _, reaction := range rolloutPhases {
			t.Run(fmt.Sprintf("%s, %s", workload, reaction.policy), func(t *testing.T) {
				t.Parallel()
				n := framework.NewNamespace(t)
				first := n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(workload), func(spec *modelv1.ModelBoxSpec) {
					spec.Rollout = &modelv1.ModelBoxRollout{OnFailure: reaction.policy}
					if workload != modelv1.WorkloadDeployment {
						spec.ProgressDeadlineSeconds = ptr.To[int32](10)
					}
				}))
				n.UpdateBox("web", held)
				lost := loseNewPod(n)
				if workload == modelv1.WorkloadDeployment {
					awaitNewVersion(n, first.Status.AvailableReplicas)
					restoreNode(n, lost)
					n.AwaitReady("web")
					return
				}
				expectFailedByNode(n, first, reaction.phase)
				restoreNode(n, lost)
				expectEndAfterNode(n, first, reaction.policy)
			})
		}
	}
}

// loseNewPod deletes the first new pod, as Kubernetes does when a node fails. The pod stays until restoreNode.
func loseNewPod(n *framework.Namespace) (lost string) {
	n.T.Helper()
	n.Eventually("the first new pod is on a node that fails", func() error {
		pods, err := n.LivePods("web")
		if err != nil {
			return err
		}
		first := slices.IndexFunc(pods, func(pod corev1.Pod) bool { return isHeld(&pod) })
		if first < 0 {
			return errors.New("there is no new pod")
		}
		lost = pods[first].Name
		if err := patchPod(n, lost, fmt.Sprintf(`{"metadata": {"finalizers": [%q]}}`, nodeFinalizer)); err != nil {
			return err
		}
		return n.Pods.Delete(n.Ctx, lost, *metav1.NewPreconditionDeleteOptions(string(pods[first].UID)))
	})
	return lost
}

// restoreNode lets the deletion of the lost pod end.
func restoreNode(n *framework.Namespace, lost string) {
	n.T.Helper()
	if err := patchPod(n, lost, `{"metadata": {"finalizers": null}}`); err != nil {
		n.T.Fatal(err)
	}
}

// startNewPods lets the nodes start all new pods, except for the lost one.
func startNewPods(n *framework.Namespace) error {
	pods, err := n.LivePods("web")
	if err != nil {
		return err
	}
	for i := range pods {
		if isHeld(&pods[i]) {
			if err := patchPod(n, pods[i].Name, `{"spec": {"schedulingGates": null}}`); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

func patchPod(n *framework.Namespace, name, patch string) error {
	_, err := n.Pods.Patch(n.Ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// awaitNewVersion waits until the box is ready with that many pods of the new version.
func awaitNewVersion(n *framework.Namespace, pods int32) {
	n.T.Helper()
	n.AwaitBox("web", "has completed its rollout", func(box *modelv1.ModelBox) error {
		if err := startNewPods(n); err != nil {
			return err
		}
		if rollout := box.Status.Rollout; rollout == nil || rollout.Phase != modelv1.RolloutComplete || box.Status.AvailableReplicas != pods {
			return fmt.Errorf("its rollout is %+v, and %d pods are available, want %d", rollout, box.Status.AvailableReplicas, pods)
		}
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
	n.AwaitImages("web", map[string]int{framework.NewImage: int(pods)})
}

// expectFailedByNode expects that the rollout misses its deadline, because the lost pod is not replaced, and that all other pods serve.
func expectFailedByNode(n *framework.Namespace, first *modelv1.ModelBox, phase modelv1.RolloutPhase) {
	n.T.Helper()
	box := n.AwaitBox("web", "waits for the node", func(box *modelv1.ModelBox) error {
		if rollout := box.Status.Rollout; rollout == nil || rollout.Phase != phase {
			return fmt.Errorf("its rollout is %+v", rollout)
		}
		if want := first.Status.AvailableReplicas - 1; box.Status.AvailableReplicas != want {
			return fmt.Errorf("%d pods are available, want %d", box.Status.AvailableReplicas, want)
		}
		return framework.CheckCondition(box, modelv1.ConditionStalled, metav1.ConditionTrue, "")
	})
	framework.ExpectEqual(n.T, "reason", modelv1.ReasonProgressDeadlineExceeded, box.Status.Rollout.Reason)
}

// expectEndAfterNode expects the end of the rollout after the node works again. A retry then completes a rollout that was paused or rolled
// back.
func expectEndAfterNode(n *framework.Namespace, first *modelv1.ModelBox, policy modelv1.RolloutFailurePolicy) {
	n.T.Helper()
	all := first.Status.AvailableReplicas
	if policy == modelv1.RolloutFailureRollback {
		n.AwaitImages("web", map[string]int{framework.Image: int(all)})
		n.AwaitBox("web", "is rolled back", func(box *modelv1.ModelBox) error {
			if box.Status.AvailableReplicas != all {
				return fmt.Errorf("%d pods are available, want %d", box.Status.AvailableReplicas, all)
			}
			return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonRolledBack)
		})
	}
	if policy != modelv1.RolloutFailureNone {
		// A slow machine may need longer than the deadline.
		n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.ProgressDeadlineSeconds = nil })
		if _, err := n.Boxes.CreateRetry(n.Ctx, "web", &modelv1.ModelBoxRetry{}, metav1.CreateOptions{}); err != nil {
			n.T.Fatal(err)
		}
	}
	awaitNewVersion(n, all)
}
