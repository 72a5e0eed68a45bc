// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestScale(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))

	t.Run("with kubectl", func(t *testing.T) {
		n := n.in(t)
		n.kubectl("scale", "modelbox/web", "--replicas=2")
		expectEqual(t, "replicas of the box", int32(2), *n.box("web").Spec.Replicas)
		n.awaitPods("web", 2)
	})
	t.Run("not from a number that it does not have", func(t *testing.T) {
		complaint := n.in(t).kubectlRefused("", "scale", "modelbox/web", "--current-replicas=7", "--replicas=3")
		if !strings.Contains(complaint, "Expected replicas to be 7, was 2") {
			t.Error(complaint)
		}
	})
	t.Run("with the API", func(t *testing.T) {
		n := n.in(t)
		scale, err := n.boxes.GetScale(n.ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		expectEqual(t, "selector", "modelbox=web", scale.Status.Selector)
		scale.Spec.Replicas = 3
		if _, err = n.boxes.UpdateScale(n.ctx, "web", scale, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		n.awaitPods("web", 3)

		// The scale that was read is of the past now.
		if _, err = n.boxes.UpdateScale(n.ctx, "web", scale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("want a conflict, got %v", err)
		}
	})
	t.Run("not to fewer than none", func(t *testing.T) {
		n := n.in(t)
		scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: n.name}, Spec: autoscalingv1.ScaleSpec{Replicas: -1}}
		_, err := n.boxes.UpdateScale(n.ctx, "web", scale, metav1.UpdateOptions{})
		expectInvalid(t, err, "spec.replicas")
	})
}

// awaitPods waits until the box is Ready with that many pods.
func (n *namespace) awaitPods(box string, count int) {
	n.t.Helper()
	n.awaitBox(box, fmt.Sprintf("is Ready with %d pods", count), func(box *modelv1.ModelBox) error {
		if len(box.Status.PodNames) != count {
			return fmt.Errorf("its pods are %q", box.Status.PodNames)
		}
		return hasCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
}
