// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestBackgroundDeletionRemovesChildren(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	n.Kubectl.Run("delete", "mb", "web", "--cascade=background", "--timeout="+framework.Patience.String())
	n.Eventually("the children are gone", n.CheckChildrenGone)
}

// TestForegroundDeletionRemovesChildrenFirst checks that no children exist when kubectl reports the deletion of the box.
func TestForegroundDeletionRemovesChildrenFirst(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(3)))
	n.Kubectl.Run("delete", "mb", "web", "--cascade=foreground", "--timeout="+framework.Patience.String())
	n.ExpectNoBox("web")
	if err := n.CheckChildrenGone(); err != nil {
		t.Errorf("the box went before its children: %v", err)
	}
}

// TestDeletedBoxRecreatesNothing keeps a box that is being deleted with a finalizer. The controller must not create its children
// again, and nothing may prevent its deletion.
func TestDeletedBoxRecreatesNothing(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	box := framework.NewBox("web", framework.WithReplicas(2))
	box.Finalizers = []string{"example.com/hold"}
	n.CreateReadyBox(box)
	n.AwaitDeployment("web", "is settled", framework.CheckRolledOut)
	writes := n.Audit.ChildWrites("web")

	if err := n.Boxes.Delete(n.Ctx, "web", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("the children are gone", n.CheckChildrenGone)
	n.AwaitBox("web", "is held by nothing but its own finalizer", func(now *modelv1.ModelBox) error {
		if !slices.Equal(now.Finalizers, box.Finalizers) {
			return fmt.Errorf("its finalizers are %q", now.Finalizers)
		}
		return nil
	})

	// The server has observed this change after it has reconciled a later box.
	n.Kubectl.Run("label", "modelbox", "web", "example.com/team=ours")
	n.CreateReadyBox(framework.NewBox("later"))
	framework.ExpectEqual(t, "writes of children", writes, n.Audit.ChildWrites("web"))
	if table := n.Kubectl.Run("get", "modelbox", "web"); !strings.Contains(table, "Terminating") {
		t.Errorf("the table does not say that the box is on its way out:\n%s", table)
	}

	n.Kubectl.Run("patch", "modelbox", "web", "--type=merge", `--patch={"metadata": {"finalizers": null}}`)
	n.ExpectNoBox("web")
}

func TestOrphanDeletionKeepsChildren(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	pods := n.CreateReadyBox(framework.NewBox("web")).Status.PodNames
	deployment, service := n.GetDeployment("web"), n.GetService("web")
	n.Kubectl.Run("delete", "mb", "web", "--cascade=orphan", "--timeout="+framework.Patience.String())
	n.ExpectNoBox("web")

	orphan := n.GetDeployment("web")
	framework.ExpectEqual(t, "UID of the Deployment", deployment.UID, orphan.UID)
	framework.ExpectEqual(t, "owners of the Deployment", 0, len(orphan.OwnerReferences))
	framework.ExpectEqual(t, "ready replicas", int32(1), orphan.Status.ReadyReplicas)
	orphanService := n.GetService("web")
	framework.ExpectEqual(t, "UID of the Service", service.UID, orphanService.UID)
	framework.ExpectEqual(t, "owners of the Service", 0, len(orphanService.OwnerReferences))
	left, err := n.LivePods("web")
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name != pods[0] {
		t.Errorf("pods %q were replaced or deleted", pods)
	}

	// A new box with the name does not adopt them, because they no longer have an owner.
	n.CreateBox(framework.NewBox("web"))
	n.AwaitNotOwned("web")
	framework.ExpectEqual(t, "owners of the Deployment beside a new box", 0, len(n.GetDeployment("web").OwnerReferences))

	// The controller does not repeatedly reconcile them, because nothing changes them.
	n.CreateReadyBox(framework.NewBox("later"))
	requests := 0
	for _, request := range framework.ReadAuditLog(t, n.ControlPlane.ClusterAuditLog(), n.Name) {
		if request.User.Username == framework.ServerUser && request.ObjectRef.Resource == "deployments" && request.ObjectRef.Name == "web" {
			requests++
		}
	}
	if requests > 20 {
		t.Errorf("the server asked %d times for the Deployment of others", requests)
	}
}

// TestRecreatedBoxGetsItsOwnChildren creates a new box with the name while the children of the old box are being deleted.
func TestRecreatedBoxGetsItsOwnChildren(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	old := n.CreateReadyBox(framework.NewBox("web"))
	n.Kubectl.Run("delete", "mb", "web")
	n.CreateBox(framework.NewBox("web", framework.WithImage(framework.NewImage)))
	box := n.AwaitReady("web")
	if box.UID == old.UID {
		t.Fatal("it is the old box")
	}
	for _, child := range []metav1.Object{n.GetDeployment("web"), n.GetService("web")} {
		if owner := metav1.GetControllerOf(child); owner == nil || owner.UID != box.UID {
			t.Errorf("a child belongs to %v, the box is %s", owner, box.UID)
		}
	}
}

func TestNamespaceDeletionRemovesBoxes(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	n.CreateBox(framework.NewBox("paused", framework.Pause))
	n.Kubectl.Run("delete", "namespace", n.Name, "--timeout=5m")
	_, err := n.ControlPlane.KubeClient.CoreV1().Namespaces().Get(n.Ctx, n.Name, metav1.GetOptions{})
	if err := framework.CheckGone(err); err != nil {
		t.Errorf("the namespace: %v", err)
	}
	boxes, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "number of boxes", 0, len(boxes.Items))
}
