// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestDeleteInBackground(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	n.kubectl("delete", "mb", "web", "--cascade=background", "--timeout="+patience.String())
	n.eventually("the children are gone", n.childrenAreGone)
}

// TestDeleteInForeground looks at the children when kubectl says that the box is gone: none may be left.
func TestDeleteInForeground(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web", withReplicas(3)))
	n.kubectl("delete", "mb", "web", "--cascade=foreground", "--timeout="+patience.String())
	expectNoBox(n, "web")
	if err := n.childrenAreGone(); err != nil {
		t.Errorf("the box went before its children: %v", err)
	}
}

// TestDeletedBoxRecreatesNothing holds a box that is being deleted: as long as it is there, nothing that it asked for is made
// anew, and nothing keeps it from going.
func TestDeletedBoxRecreatesNothing(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	box := newBox("web", withReplicas(2))
	box.Finalizers = []string{"example.com/hold"}
	n.createReady(box)
	n.awaitDeployment("web", "is settled", isComplete)
	writes := n.writesOfChildren("web")

	if err := n.boxes.Delete(n.ctx, "web", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	n.eventually("the children are gone", n.childrenAreGone)
	n.awaitBox("web", "is held by nothing but its own finalizer", func(now *modelv1.ModelBox) error {
		if !slices.Equal(now.Finalizers, box.Finalizers) {
			return fmt.Errorf("its finalizers are %q", now.Finalizers)
		}
		return nil
	})

	// The server has seen this change of the box when it is done with a box that came later.
	n.kubectl("label", "modelbox", "web", "example.com/team=ours")
	n.createReady(newBox("later"))
	expectEqual(t, "writes of children", writes, n.writesOfChildren("web"))
	if table := n.kubectl("get", "modelbox", "web"); !strings.Contains(table, "Terminating") {
		t.Errorf("the table does not say that the box is on its way out:\n%s", table)
	}

	n.kubectl("patch", "modelbox", "web", "--type=merge", `--patch={"metadata": {"finalizers": null}}`)
	expectNoBox(n, "web")
}

func TestDeleteAndLeaveOrphans(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	pods := n.createReady(newBox("web")).Status.PodNames
	deployment, service := n.deployment("web"), n.service("web")
	n.kubectl("delete", "mb", "web", "--cascade=orphan", "--timeout="+patience.String())
	expectNoBox(n, "web")

	orphan := n.deployment("web")
	expectEqual(t, "UID of the Deployment", deployment.UID, orphan.UID)
	expectEqual(t, "owners of the Deployment", 0, len(orphan.OwnerReferences))
	expectEqual(t, "ready replicas", int32(1), orphan.Status.ReadyReplicas)
	orphanService := n.service("web")
	expectEqual(t, "UID of the Service", service.UID, orphanService.UID)
	expectEqual(t, "owners of the Service", 0, len(orphanService.OwnerReferences))
	left, err := n.podsOf("web")
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name != pods[0] {
		t.Errorf("pods %q were replaced or deleted", pods)
	}

	// A new box of that name does not take them: they are somebody's now.
	n.create(newBox("web"))
	n.awaitNotOwned("web")
	expectEqual(t, "owners of the Deployment beside a new box", 0, len(n.deployment("web").OwnerReferences))
}

// TestDeleteAndCreateAgain gives the name to a new box while the children of the old one are still going.
func TestDeleteAndCreateAgain(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	old := n.createReady(newBox("web"))
	n.kubectl("delete", "mb", "web")
	n.create(newBox("web", withImage(newImage)))
	box := n.awaitReady("web")
	if box.UID == old.UID {
		t.Fatal("it is the old box")
	}
	for _, child := range []metav1.Object{n.deployment("web"), n.service("web")} {
		if owner := metav1.GetControllerOf(child); owner == nil || owner.UID != box.UID {
			t.Errorf("a child belongs to %v, the box is %s", owner, box.UID)
		}
	}
}

func TestDeleteNamespace(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	n.create(newBox("paused", pause))
	n.kubectl("delete", "namespace", n.name, "--timeout="+patience.String())
	_, err := plane.kube.CoreV1().Namespaces().Get(n.ctx, n.name, metav1.GetOptions{})
	if err := expectGone(err); err != nil {
		t.Errorf("the namespace: %v", err)
	}
	boxes, err := n.boxes.List(n.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "number of boxes", 0, len(boxes.Items))
}

// childrenAreGone returns nil when nothing is left of what box "web" asked for.
func (n *namespace) childrenAreGone() error {
	if _, err := n.deployments.Get(n.ctx, "web", metav1.GetOptions{}); expectGone(err) != nil {
		return fmt.Errorf("Deployment: %w", expectGone(err))
	}
	if _, err := n.services.Get(n.ctx, "web", metav1.GetOptions{}); expectGone(err) != nil {
		return fmt.Errorf("Service: %w", expectGone(err))
	}
	pods, err := n.pods.List(n.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(pods.Items) > 0 {
		return fmt.Errorf("there are %d pods", len(pods.Items))
	}
	return nil
}
