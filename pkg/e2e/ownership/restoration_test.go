// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestDeletedAndChangedChildrenAreRestored(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		heal func(n *framework.Namespace)
	}{
		{"a deleted Deployment comes back while the Service stays", deploymentComesBack},
		{"a deleted Service comes back while the Deployment stays", serviceComesBack},
		{"a deleted pod comes back", podComesBack},
		{"a changed image is restored, and an event names who changed it", imageIsPutBack},
		{"a changed port is restored", servicePortIsPutBack},
		{"a field that was removed is put back", removedFieldIsPutBack},
		{"a label that was removed is put back", labelIsPutBack},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web"))
			test.heal(n)
		})
	}
}

func serviceComesBack(n *framework.Namespace) {
	service, deployment := n.GetService("web"), n.GetDeployment("web")
	if err := n.Services.Delete(n.Ctx, "web", metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.AwaitService("web", "is back", func(now *corev1.Service) error { return isAnother(now, service) })
	n.AwaitReady("web")
	framework.ExpectEqual(n.T, "UID of the Deployment", deployment.UID, n.GetDeployment("web").UID)
}

func deploymentComesBack(n *framework.Namespace) {
	service, deployment := n.GetService("web"), n.GetDeployment("web")
	if err := n.Deployments.Delete(n.Ctx, "web", metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.AwaitDeployment("web", "is back", func(now *appsv1.Deployment) error { return isAnother(now, deployment) })
	n.AwaitReady("web")
	framework.ExpectEqual(n.T, "UID of the Service", service.UID, n.GetService("web").UID)
}

// podComesBack checks that the status of the box has the new pod of the ReplicaSet.
func podComesBack(n *framework.Namespace) {
	pod := n.GetBox("web").Status.PodNames[0]
	if err := n.Pods.Delete(n.Ctx, pod, metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.Eventually("the box is Ready with another pod", func() error {
		box, err := n.Boxes.Get(n.Ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if names := box.Status.PodNames; len(names) != 1 || names[0] == pod {
			return fmt.Errorf("its pods are %q, and %s was deleted", names, pod)
		}
		return framework.CheckCondition(box, "Ready", metav1.ConditionTrue, "")
	})
}

func imageIsPutBack(n *framework.Namespace) {
	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:hacked"}]`)
	n.AwaitDeployment("web", "has its image again", func(d *appsv1.Deployment) error {
		if now := d.Spec.Template.Spec.Containers[0].Image; now != framework.Image {
			return fmt.Errorf("it has %s", now)
		}
		return nil
	})
	n.Events.Await("web", "RestoredDeployment", framework.OtherManager, "image")
	n.AwaitReady("web")
}

func servicePortIsPutBack(n *framework.Namespace) {
	_, err := n.Services.Patch(n.Ctx, "web", types.JSONPatchType,
		[]byte(`[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 8080}]`), metav1.PatchOptions{FieldManager: framework.OtherManager})
	if err != nil {
		n.T.Fatal(err)
	}
	n.AwaitService("web", "leads to its port again", func(s *corev1.Service) error {
		if port := s.Spec.Ports[0].TargetPort.IntValue(); port != 80 {
			return fmt.Errorf("it leads to %d", port)
		}
		return nil
	})
	n.Events.Await("web", "RestoredService", framework.OtherManager, "targetPort")
}

func removedFieldIsPutBack(n *framework.Namespace) {
	n.PatchDeployment("web", `[{"op": "remove", "path": "/spec/template/spec/containers/0/readinessProbe"}]`)
	n.AwaitDeployment("web", "has its readiness probe again", func(d *appsv1.Deployment) error {
		if d.Spec.Template.Spec.Containers[0].ReadinessProbe == nil {
			return errors.New("it has none")
		}
		return nil
	})
	n.Events.Await("web", "RestoredDeployment", "readinessProbe")
}

// labelIsPutBack checks the label by which the server selects its children.
func labelIsPutBack(n *framework.Namespace) {
	before := n.GetDeployment("web")
	n.PatchDeployment("web", `[{"op": "remove", "path": "/metadata/labels/app.kubernetes.io~1managed-by"}]`)
	after := n.AwaitDeployment("web", "has its label again", func(d *appsv1.Deployment) error {
		if d.Labels["app.kubernetes.io/managed-by"] != "modelbox-apiserver" {
			return fmt.Errorf("its labels are %v", d.Labels)
		}
		return nil
	})
	framework.ExpectEqual(n.T, "UID of the Deployment", before.UID, after.UID)
	n.AwaitReady("web")
}

// isAnother returns nil if now has another UID than before and is not being deleted.
func isAnother(now, before metav1.Object) error {
	switch {
	case now.GetUID() == before.GetUID():
		return errors.New("it is the old one")
	case now.GetDeletionTimestamp() != nil:
		return errors.New("it is being deleted")
	}
	return nil
}
