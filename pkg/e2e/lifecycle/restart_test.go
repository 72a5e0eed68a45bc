// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestRestart restarts boxes of each kind of workload as a user with only the permission for the subresource restart: every pod is
// replaced, and an event names the user.
func TestRestart(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	only, allElse := n.SubresourceUsers("restart", "create")
	for _, workload := range framework.Workloads {
		name := strings.ToLower(string(workload))
		t.Run(name, func(t *testing.T) {
			n := n.In(t)
			n.CreateReadyBox(framework.NewBox(name, framework.WithWorkload(workload)))
			before, err := n.LivePods(name)
			if err != nil {
				t.Fatal(err)
			}
			restart, err := only.CreateRestart(n.Ctx, name, &modelv1.ModelBoxRestart{}, metav1.CreateOptions{FieldManager: "e2e"})
			if err != nil {
				t.Fatal(err)
			}
			n.Eventually("all pods are other ones", func() error {
				pods, err := n.LivePods(name)
				if err != nil {
					return err
				}
				for _, pod := range pods {
					if pod.Annotations[modelv1.RestartedAtAnnotation] != restart.Status.RestartedAt.UTC().Format("2006-01-02T15:04:05Z07:00") {
						return fmt.Errorf("pod %s has the annotations %v", pod.Name, pod.Annotations)
					}
					for i := range before {
						if before[i].UID == pod.UID {
							return fmt.Errorf("pod %s is still there", pod.Name)
						}
					}
				}
				if len(pods) != len(before) {
					return fmt.Errorf("there are %d pods, before there were %d", len(pods), len(before))
				}
				return nil
			})
			n.AwaitReady(name)
		})
	}
	const name = "deployment"
	n.Eventually("an event says who has restarted it", func() error {
		run := framework.RunKubectl(n.Kubectl.Command("events", "--for=modelbox/"+name), "")
		if want := `User "only-restart" restarted the box`; !strings.Contains(run.Stdout, want) {
			return fmt.Errorf("the events are\n%s", run.Stdout)
		}
		return nil
	})
	box, err := n.Boxes.Get(n.Ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(box.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "e2e" && entry.Subresource == "restart"
	}) {
		t.Errorf("managed fields: %v", box.ManagedFields)
	}

	if _, err := only.Get(n.Ctx, name, metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has only it reads the box: %v", err)
	}
	if _, err := allElse.CreateRestart(n.Ctx, name, &modelv1.ModelBoxRestart{}, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has all else: %v", err)
	}
	if _, err := n.Boxes.Patch(n.Ctx, name, types.MergePatchType, []byte(`{"spec": {"paused": true}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := only.CreateRestart(n.Ctx, name, &modelv1.ModelBoxRestart{}, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a paused box: %v", err)
	}
}
