// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AwaitDisruptionBudget waits until the disruption budget of a box has the numbers of pods and of allowed disruptions.
func (n *Namespace) AwaitDisruptionBudget(box string, pods, disruptions int32) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("%d of %d pods may be evicted", disruptions, pods), func() error {
		budget, err := n.ControlPlane.KubeClient.PolicyV1().PodDisruptionBudgets(n.Name).Get(n.Ctx, box, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := &budget.Status
		if status.ObservedGeneration != budget.Generation || status.CurrentHealthy != pods || status.DisruptionsAllowed != disruptions {
			return fmt.Errorf("its status is %+v", *status)
		}
		return nil
	})
}
