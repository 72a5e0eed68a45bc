// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// somebodyElse is the field manager of changes that the server did not make.
const somebodyElse = "somebody-else"

func TestHealing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		heal func(n *namespace)
	}{
		{"a deleted Deployment comes back while the Service stays", deploymentComesBack},
		{"a deleted Service comes back while the Deployment stays", serviceComesBack},
		{"a deleted pod comes back", podComesBack},
		{"an image changed by hand is put back, and an event says who had changed it", imageIsPutBack},
		{"a port changed by hand is put back", servicePortIsPutBack},
		{"a field that was removed is put back", removedFieldIsPutBack},
		{"a label that was removed is put back", labelIsPutBack},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := newNamespace(t)
			n.createReady(newBox("web"))
			test.heal(n)
		})
	}
}

func serviceComesBack(n *namespace) {
	service, deployment := n.service("web"), n.deployment("web")
	if err := n.services.Delete(n.ctx, "web", metav1.DeleteOptions{}); err != nil {
		n.t.Fatal(err)
	}
	n.awaitService("web", "is back", func(now *corev1.Service) error { return isAnother(now, service) })
	n.awaitReady("web")
	expectEqual(n.t, "UID of the Deployment", deployment.UID, n.deployment("web").UID)
}

func deploymentComesBack(n *namespace) {
	service, deployment := n.service("web"), n.deployment("web")
	if err := n.deployments.Delete(n.ctx, "web", metav1.DeleteOptions{}); err != nil {
		n.t.Fatal(err)
	}
	n.awaitDeployment("web", "is back", func(now *appsv1.Deployment) error { return isAnother(now, deployment) })
	n.awaitReady("web")
	expectEqual(n.t, "UID of the Service", service.UID, n.service("web").UID)
}

// podComesBack is the ReplicaSet's work; the box has to name the new pod.
func podComesBack(n *namespace) {
	pod := n.box("web").Status.PodNames[0]
	if err := n.pods.Delete(n.ctx, pod, metav1.DeleteOptions{}); err != nil {
		n.t.Fatal(err)
	}
	n.eventually("the box is Ready with another pod", func() error {
		box, err := n.boxes.Get(n.ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if names := box.Status.PodNames; len(names) != 1 || names[0] == pod {
			return fmt.Errorf("its pods are %q, and %s was deleted", names, pod)
		}
		return hasCondition(box, "Ready", metav1.ConditionTrue, "")
	})
}

func imageIsPutBack(n *namespace) {
	n.patchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:hacked"}]`)
	n.awaitDeployment("web", "has its image again", func(d *appsv1.Deployment) error {
		if now := d.Spec.Template.Spec.Containers[0].Image; now != image {
			return fmt.Errorf("it has %s", now)
		}
		return nil
	})
	n.awaitEvent("web", "RestoredDeployment", somebodyElse, "image")
	n.awaitReady("web")
}

func servicePortIsPutBack(n *namespace) {
	_, err := n.services.Patch(n.ctx, "web", types.JSONPatchType,
		[]byte(`[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 8080}]`), metav1.PatchOptions{FieldManager: somebodyElse})
	if err != nil {
		n.t.Fatal(err)
	}
	n.awaitService("web", "leads to its port again", func(s *corev1.Service) error {
		if port := s.Spec.Ports[0].TargetPort.IntValue(); port != 80 {
			return fmt.Errorf("it leads to %d", port)
		}
		return nil
	})
	n.awaitEvent("web", "RestoredService", somebodyElse, "targetPort")
}

func removedFieldIsPutBack(n *namespace) {
	n.patchDeployment("web", `[{"op": "remove", "path": "/spec/template/spec/containers/0/readinessProbe"}]`)
	n.awaitDeployment("web", "has its readiness probe again", func(d *appsv1.Deployment) error {
		if d.Spec.Template.Spec.Containers[0].ReadinessProbe == nil {
			return errors.New("it has none")
		}
		return nil
	})
	n.awaitEvent("web", "RestoredDeployment", "readinessProbe")
}

// labelIsPutBack is about the label by which the server finds what it has made.
func labelIsPutBack(n *namespace) {
	before := n.deployment("web")
	n.patchDeployment("web", `[{"op": "remove", "path": "/metadata/labels/app.kubernetes.io~1managed-by"}]`)
	after := n.awaitDeployment("web", "has its label again", func(d *appsv1.Deployment) error {
		if d.Labels["app.kubernetes.io/managed-by"] != "modelbox-apiserver" {
			return fmt.Errorf("its labels are %v", d.Labels)
		}
		return nil
	})
	expectEqual(n.t, "UID of the Deployment", before.UID, after.UID)
	n.awaitReady("web")
}

// patchDeployment changes a Deployment in the name of somebody else.
func (n *namespace) patchDeployment(name, patch string) *appsv1.Deployment {
	n.t.Helper()
	patched, err := n.deployments.Patch(n.ctx, name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: somebodyElse})
	if err != nil {
		n.t.Fatalf("changing Deployment %s: %v", name, err)
	}
	return patched
}

// isAnother returns nil when now is not the object that before was, and stays.
func isAnother(now, before metav1.Object) error {
	switch {
	case now.GetUID() == before.GetUID():
		return errors.New("it is the old one")
	case now.GetDeletionTimestamp() != nil:
		return errors.New("it is being deleted")
	}
	return nil
}
