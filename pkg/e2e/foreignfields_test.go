// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestForeignFieldsStay sets what the box says nothing about together with something that it does. Once the latter
// is put back the server has seen, and left, the former.
func TestForeignFieldsStay(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	const metadata = `{"annotations": {"example.com/note": "mine"}, "labels": {"example.com/team": "ours"}}`

	t.Run("Deployment and its pod template", func(t *testing.T) {
		n := n.in(t)
		patch := fmt.Sprintf(`{"metadata": %[1]s, "spec": {"minReadySeconds": 7, "revisionHistoryLimit": 3,
			"template": {"metadata": %[1]s, "spec": {"enableServiceLinks": false}}}}`, metadata)
		_, err := n.deployments.Patch(n.ctx, "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: somebodyElse})
		if err != nil {
			t.Fatal(err)
		}
		deployment := n.awaitDeployment("web", "has its own minReadySeconds again", func(d *appsv1.Deployment) error {
			if d.Spec.MinReadySeconds != 1 {
				return fmt.Errorf("it has %d", d.Spec.MinReadySeconds)
			}
			return nil
		})
		expectForeign(t, "Deployment", deployment)
		expectForeign(t, "pod template", &deployment.Spec.Template)
		if *deployment.Spec.RevisionHistoryLimit != 3 || *deployment.Spec.Template.Spec.EnableServiceLinks {
			t.Errorf("fields that the box says nothing about were taken back")
		}
	})

	t.Run("Service", func(t *testing.T) {
		n := n.in(t)
		patch := fmt.Sprintf(`{"metadata": %s, "spec": {"sessionAffinity": "ClientIP", "selector": {"modelbox": "other"}}}`, metadata)
		_, err := n.services.Patch(n.ctx, "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: somebodyElse})
		if err != nil {
			t.Fatal(err)
		}
		service := n.awaitService("web", "has its own selector again", func(s *corev1.Service) error {
			if s.Spec.Selector["modelbox"] != "web" {
				return fmt.Errorf("it has %v", s.Spec.Selector)
			}
			return nil
		})
		expectForeign(t, "Service", service)
		expectEqual(t, "session affinity", corev1.ServiceAffinityClientIP, service.Spec.SessionAffinity)
	})

	t.Run("after a change of the box", func(t *testing.T) {
		n := n.in(t)
		n.change("web", withImage(newImage))
		n.awaitReady("web")
		deployment := n.deployment("web")
		expectEqual(t, "image", newImage, deployment.Spec.Template.Spec.Containers[0].Image)
		expectForeign(t, "Deployment", deployment)
		expectForeign(t, "pod template", &deployment.Spec.Template)
		expectForeign(t, "Service", n.service("web"))
	})
}

func expectForeign(t *testing.T, what string, object metav1.Object) {
	t.Helper()
	if object.GetAnnotations()["example.com/note"] != "mine" || object.GetLabels()["example.com/team"] != "ours" {
		t.Errorf("%s: somebody else's metadata was taken back: annotations %v, labels %v", what, object.GetAnnotations(), object.GetLabels())
	}
}

// TestRolloutRestart is the foreign annotation that people set most.
func TestRolloutRestart(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	before := n.createReady(newBox("web"))
	n.kubectl("rollout", "restart", "deployment/web")
	n.kubectl("rollout", "status", "deployment/web", "--timeout="+patience.String())
	n.awaitBox("web", "is Ready with another pod", func(box *modelv1.ModelBox) error {
		if fmt.Sprint(box.Status.PodNames) == fmt.Sprint(before.Status.PodNames) {
			return fmt.Errorf("its pods are still %q", box.Status.PodNames)
		}
		return hasCondition(box, "Ready", metav1.ConditionTrue, "")
	})
	if n.deployment("web").Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] == "" {
		t.Error("the annotation of the restart was taken back")
	}
}
