// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestForeignFieldsAreKept sets a field that the box does not set together with a field that it sets. After the controller has
// restored the second field, it has also observed and kept the first one.
func TestForeignFieldsAreKept(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	const metadata = `{"annotations": {"example.com/note": "mine"}, "labels": {"example.com/team": "ours"}}`

	t.Run("Deployment and its pod template", func(t *testing.T) {
		n := n.In(t)
		patch := fmt.Sprintf(`{"metadata": %[1]s, "spec": {"minReadySeconds": 7, "revisionHistoryLimit": 3,
			"template": {"metadata": %[1]s, "spec": {"enableServiceLinks": false}}}}`, metadata)
		_, err := n.Deployments.Patch(n.Ctx, "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: framework.OtherManager})
		if err != nil {
			t.Fatal(err)
		}
		deployment := n.AwaitDeployment("web", "has its own minReadySeconds again", func(d *appsv1.Deployment) error {
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
		n := n.In(t)
		patch := fmt.Sprintf(`{"metadata": %s, "spec": {"sessionAffinity": "ClientIP", "selector": {"modelbox": "other"}}}`, metadata)
		_, err := n.Services.Patch(n.Ctx, "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: framework.OtherManager})
		if err != nil {
			t.Fatal(err)
		}
		service := n.AwaitService("web", "has its own selector again", func(s *corev1.Service) error {
			if s.Spec.Selector["modelbox"] != "web" {
				return fmt.Errorf("it has %v", s.Spec.Selector)
			}
			return nil
		})
		expectForeign(t, "Service", service)
		framework.ExpectEqual(t, "session affinity", corev1.ServiceAffinityClientIP, service.Spec.SessionAffinity)
	})

	t.Run("after a change of the box", func(t *testing.T) {
		n := n.In(t)
		n.UpdateBox("web", framework.WithImage(framework.NewImage))
		n.AwaitReady("web")
		deployment := n.GetDeployment("web")
		framework.ExpectEqual(t, "image", framework.NewImage, deployment.Spec.Template.Spec.Containers[0].Image)
		expectForeign(t, "Deployment", deployment)
		expectForeign(t, "pod template", &deployment.Spec.Template)
		expectForeign(t, "Service", n.GetService("web"))
	})
}

func expectForeign(t *testing.T, what string, object metav1.Object) {
	t.Helper()
	if object.GetAnnotations()["example.com/note"] != "mine" || object.GetLabels()["example.com/team"] != "ours" {
		t.Errorf("%s: the metadata of another client was removed: annotations %v, labels %v", what, object.GetAnnotations(), object.GetLabels())
	}
}

// TestRolloutRestartIsKept checks the annotation of kubectl rollout restart.
func TestRolloutRestartIsKept(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	before := n.CreateReadyBox(framework.NewBox("web"))
	n.Kubectl.Run("rollout", "restart", "deployment/web")
	n.Kubectl.Run("rollout", "status", "deployment/web", "--timeout="+framework.Patience.String())
	n.AwaitBox("web", "is Ready with another pod", func(box *modelv1.ModelBox) error {
		if fmt.Sprint(box.Status.PodNames) == fmt.Sprint(before.Status.PodNames) {
			return fmt.Errorf("its pods are still %q", box.Status.PodNames)
		}
		return framework.CheckCondition(box, "Ready", metav1.ConditionTrue, "")
	})
	if n.GetDeployment("web").Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] == "" {
		t.Error("the annotation of the restart was taken back")
	}
}
