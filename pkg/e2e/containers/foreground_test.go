// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// foregroundDeletionWaitsForPods checks that a box that is deleted in the foreground exists until its last container has ended.
func foregroundDeletionWaitsForPods(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("web", framework.WithReplicas(2)))
	n.Kubectl.Run("delete", "modelbox/web", "--cascade=foreground", "--wait=false")
	ending := 0
	n.Eventually("the box is gone", func() error {
		// Read the box before the pods: no pod may exist after the box.
		_, boxErr := n.Boxes.Get(n.Ctx, "web", metav1.GetOptions{})
		pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=web"})
		if err != nil {
			return err
		}
		if apierrors.IsNotFound(boxErr) {
			if len(pods.Items) > 0 {
				n.T.Fatalf("the box is gone, and %d of its pods are there", len(pods.Items))
			}
			return nil
		}
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp != nil {
				ending++
			}
		}
		return errors.Join(boxErr, errors.New("it is there"))
	})
	if ending == 0 {
		n.T.Error("the box was never seen together with a pod that was ending")
	}
}
