// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestPausedDeploymentStaysPaused checks that the controller does not change spec.paused of a Deployment, and that the status
// reports it.
func TestPausedDeploymentStaysPaused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2)))

	n.Kubectl.Run("rollout", "pause", "deployment/web")
	const pause = `kubectl-rollout has paused the Deployment, until "kubectl rollout resume deployment/web"`
	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "2 of 2 replicas are available", pause)

	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonDeploymentPaused, "0 out of 2 new replicas have been updated", pause)
	n.AwaitBox("web", "has no rollout that makes progress", func(box *modelv1.ModelBox) error {
		return errors.Join(
			framework.CheckCondition(box, modelv1.ConditionProgressing, metav1.ConditionFalse, modelv1.ReasonDeploymentPaused),
			framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, ""),
		)
	})
	n.Events.Await("web", "DeploymentPaused", pause)

	n.Kubectl.Run("rollout", "resume", "deployment/web")
	n.AwaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "2 of 2 replicas are available")
}
