// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestDeploymentThatSomebodyPaused: the box leaves it paused, for that is no field of its own, and says so.
func TestDeploymentThatSomebodyPaused(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web", withReplicas(2)))

	n.kubectl("rollout", "pause", "deployment/web")
	const pause = `kubectl-rollout has paused the Deployment, until "kubectl rollout resume deployment/web"`
	n.awaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "2 of 2 replicas are available", pause)

	n.change("web", withImage(newImage))
	n.awaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonDeploymentPaused, "0 of 2 replicas run the current pod template", pause)
	n.awaitBox("web", "has no rollout that makes progress", func(box *modelv1.ModelBox) error {
		return errors.Join(
			hasCondition(box, modelv1.ConditionProgressing, metav1.ConditionFalse, modelv1.ReasonDeploymentPaused),
			hasCondition(box, modelv1.ConditionApplied, metav1.ConditionTrue, ""),
		)
	})
	n.awaitEvent("web", "DeploymentPaused", pause)

	n.kubectl("rollout", "resume", "deployment/web")
	n.awaitReadyCondition("web", metav1.ConditionTrue, modelv1.ReasonReady, "2 of 2 replicas are available")
}

// awaitReadyCondition waits until the box has the Ready condition and says all of the words in it.
func (n *namespace) awaitReadyCondition(name string, status metav1.ConditionStatus, reason string, words ...string) {
	n.t.Helper()
	n.awaitBox(name, fmt.Sprintf("is Ready=%s, %s", status, reason), func(box *modelv1.ModelBox) error {
		if err := hasCondition(box, modelv1.ConditionReady, status, reason); err != nil {
			return err
		}
		if ready := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionReady); !containsAll(ready.Message, words) {
			return fmt.Errorf("its message is %q, want %q in it", ready.Message, words)
		}
		return nil
	})
}
