// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestScaleSubresourceScalesBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))

	t.Run("with kubectl", func(t *testing.T) {
		n := n.In(t)
		n.Kubectl.Run("scale", "modelbox/web", "--replicas=2")
		framework.ExpectEqual(t, "replicas of the box", int32(2), *n.GetBox("web").Spec.Replicas)
		n.AwaitPods("web", 2)
	})
	t.Run("not from a number that it does not have", func(t *testing.T) {
		complaint := n.In(t).Kubectl.RunFailing("", "scale", "modelbox/web", "--current-replicas=7", "--replicas=3")
		if !strings.Contains(complaint, "Expected replicas to be 7, was 2") {
			t.Error(complaint)
		}
	})
	t.Run("with the API", func(t *testing.T) {
		n := n.In(t)
		scale, err := n.Boxes.GetScale(n.Ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		framework.ExpectEqual(t, "selector", "modelbox=web", scale.Status.Selector)
		scale.Spec.Replicas = 3
		if _, err = n.Boxes.UpdateScale(n.Ctx, "web", scale, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		n.AwaitPods("web", 3)

		// The scale that was read is stale now.
		if _, err = n.Boxes.UpdateScale(n.Ctx, "web", scale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("want a conflict, got %v", err)
		}
	})
	t.Run("not to fewer than none", func(t *testing.T) {
		n := n.In(t)
		scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: n.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: -1}}
		_, err := n.Boxes.UpdateScale(n.Ctx, "web", scale, metav1.UpdateOptions{})
		framework.ExpectInvalid(t, err, "spec.replicas")
	})
}
