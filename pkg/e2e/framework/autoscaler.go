// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Autoscale creates a HorizontalPodAutoscaler named web for the target, such as modelbox/web, and waits until it is active.
func (n *Namespace) Autoscale(target string, minimum int) {
	n.T.Helper()
	n.Kubectl.Run("autoscale", target, fmt.Sprintf("--min=%d", minimum), "--max=9", "--cpu=50%")
	n.Eventually("the autoscaler has read the scale", func() error {
		autoscaler, err := n.ControlPlane.KubeClient.AutoscalingV2().HorizontalPodAutoscalers(n.Name).Get(n.Ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range autoscaler.Status.Conditions {
			if condition.Type == autoscalingv2.AbleToScale && condition.Status == corev1.ConditionTrue &&
				strings.HasPrefix(condition.Reason, "Succeeded") {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %+v", autoscaler.Status.Conditions)
	})
}
