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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestFailedRolloutIsRolledBack updates boxes to pods that never run. The former pods must serve again with their files, until a
// rollback of the spec.
func TestFailedRolloutIsRolledBack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	only, allElse := n.SubresourceUsers("retry", "create")
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet} {
		name := strings.ToLower(string(workload))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := n.In(t)
			n.CreateReadyBox(framework.NewBox(name, framework.WithWorkload(workload), framework.WithReplicas(2), func(spec *modelv1.ModelBoxSpec) {
				spec.Configs = []modelv1.ModelBoxConfig{{MountPath: "/etc/web", Data: map[string]string{"web.conf": "workers 4;"}}}
				spec.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback}
				spec.MinReadySeconds, spec.ProgressDeadlineSeconds = ptr.To[int32](0), ptr.To[int32](3)
			}))
			n.UpdateBox(name, func(spec *modelv1.ModelBoxSpec) {
				framework.Unschedulable(spec)
				spec.Configs[0].Data["web.conf"] = "workers none;"
			})
			first := awaitRolledBack(n, name, nil)
			n.AwaitConfigMap(name, "has the file of before", func(files *corev1.ConfigMap) error {
				if files.Data["web.conf"] != "workers 4;" {
					return fmt.Errorf("it has %q", files.Data)
				}
				return nil
			})
			framework.ExpectEqual(t, "file of the box", "workers none;", first.Spec.Configs[0].Data["web.conf"])
			n.Events.Await(name, "RolloutFailed")
			n.Events.Await(name, "RolledBack")

			if _, err := allElse.CreateRetry(n.Ctx, name, &modelv1.ModelBoxRetry{}, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
				t.Errorf("a retry without the permission: %v", err)
			}
			retry, err := only.CreateRetry(n.Ctx, name, &modelv1.ModelBoxRetry{}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			awaitRolledBack(n, name, &retry.Status.StartedAt)

			if _, err := n.Boxes.CreateRollback(n.Ctx, name, &modelv1.ModelBoxRollback{}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			box := n.AwaitReady(name)
			framework.ExpectEqual(t, "phase in the end", modelv1.RolloutComplete, box.Status.Rollout.Phase)
			framework.ExpectEqual(t, "file in the end", "workers 4;", box.Spec.Configs[0].Data["web.conf"])
			history, err := n.Boxes.GetHistory(n.Ctx, name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var failures []string
			for _, revision := range history.Revisions {
				failures = append(failures, revision.Failure)
			}
			framework.ExpectEqual(t, "failures of the revisions", []string{modelv1.ReasonProgressDeadlineExceeded, ""}, failures)
		})
	}
}

// TestBadImageIsRolledBack expects a rollback as soon as a new pod cannot pull its image, long before the progress deadline. It
// does not use a StatefulSet, which would wait until the old pod is available for the longer minReadySeconds before it creates the
// pod.
func TestBadImageIsRolledBack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadDaemonSet} {
		name := strings.ToLower(string(workload))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := n.In(t)
			n.CreateReadyBox(framework.NewBox(name, framework.WithWorkload(workload), func(spec *modelv1.ModelBoxSpec) {
				spec.Rollout = &modelv1.ModelBoxRollout{OnFailure: modelv1.RolloutFailureRollback}
			}))
			n.UpdateBox(name, func(spec *modelv1.ModelBoxSpec) {
				spec.Image = framework.NewImage
				spec.MinReadySeconds = ptr.To[int32](300) // The rollout is not complete before its pod fails.
			})
			framework.Eventually(t, framework.Patience, "a pod with the new image fails", func() error {
				pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + name})
				if err != nil {
					return err
				}
				for i := range pods.Items {
					if pod := &pods.Items[i]; pod.Spec.Containers[0].Image == framework.NewImage && len(pod.Status.ContainerStatuses) > 0 {
						return failPod(n, pod, corev1.ContainerStatus{Name: name, Image: framework.NewImage, State: corev1.ContainerState{
							Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"},
						}})
					}
				}
				return errors.New("there is none that has started")
			})
			box := n.AwaitBox(name, "is rolled back", func(box *modelv1.ModelBox) error {
				if rollout := box.Status.Rollout; rollout == nil || rollout.Phase != modelv1.RolloutRolledBack {
					return fmt.Errorf("its rollout is %+v", rollout)
				}
				return nil
			})
			framework.ExpectEqual(t, "reason", "ImagePullBackOff", box.Status.Rollout.Reason)
			framework.ExpectEqual(t, "image of the box", framework.NewImage, box.Spec.Image)
		})
	}
}

// awaitRolledBack waits until the former pods of the box serve again after a retry.
func awaitRolledBack(n *framework.Namespace, name string, retried *metav1.Time) *modelv1.ModelBox {
	n.T.Helper()
	return n.AwaitBox(name, "is rolled back", func(box *modelv1.ModelBox) error {
		if rollout := box.Status.Rollout; rollout == nil || retried != nil && !rollout.StartedAt.Equal(retried) {
			return fmt.Errorf("its rollout is %+v", rollout)
		}
		if box.Status.AvailableReplicas != 2 || box.Status.UpdatedReplicas != 2 {
			return fmt.Errorf("%d pods are available, and %d updated", box.Status.AvailableReplicas, box.Status.UpdatedReplicas)
		}
		return errors.Join(
			framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonRolledBack),
			framework.CheckCondition(box, modelv1.ConditionProgressing, metav1.ConditionFalse, modelv1.ReasonRolledBack),
			framework.CheckCondition(box, modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonRolledBack),
		)
	})
}
