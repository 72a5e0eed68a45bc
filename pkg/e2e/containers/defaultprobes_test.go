// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// restartPatience is the timeout for three failures of the default liveness probe, ten seconds apart, and a restart.
const restartPatience = 3 * time.Minute

func lateListenerIsNotRestarted(n *framework.Namespace) {
	startsWithoutRestart(n, "20s", 20*time.Second)
}

func slowStarterIsNotKilled(n *framework.Namespace) {
	startsWithoutRestart(n, "2m", 2*time.Minute)
}

// startsWithoutRestart checks that a slow application is not Ready until it listens, and is not restarted.
func startsWithoutRestart(n *framework.Namespace, listenAfter string, while time.Duration) {
	n.T.Helper()
	n.CreateBox(newAppBox("web", withArgs("-listen-after="+listenAfter)))
	n.Eventually("the container runs", func() error { return isStarting(n, "web") })
	n.AwaitReadyCondition("web", metav1.ConditionFalse, "", "container web: nothing answers on port 80, which the default startup probe checks; see spec.defaultProbes")
	framework.Eventually(n.T, while+framework.Patience, "box web is Ready", func() error {
		return framework.CheckCondition(n.GetBox("web"), modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
	framework.ExpectEqual(n.T, "restarts", int32(0), restartsOf(n, "web"))
}

// isStarting returns nil if the box has a pod whose main container runs and is not ready.
func isStarting(n *framework.Namespace, box string) error {
	pods, err := n.LivePods(box)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		for _, container := range pod.Status.ContainerStatuses {
			if container.State.Running != nil && !container.Ready {
				return nil
			}
		}
	}
	return errors.New("no container runs that is not ready")
}

func deafApplicationIsRestarted(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("web"))
	tell(n, "web", "/listen/off")
	n.AwaitReadyCondition("web", metav1.ConditionFalse, "", "container web: nothing answers on port 80, which the default readiness probe checks; see spec.defaultProbes")
	framework.Eventually(n.T, restartPatience, "the container is restarted", func() error {
		if restarts := restartsOf(n, "web"); restarts != 1 {
			return fmt.Errorf("it was restarted %d times", restarts)
		}
		return nil
	})
	n.AwaitReady("web")
	expectAnswer(n, "web", "/version", "1")
	framework.ExpectEqual(n.T, "restarts", int32(1), restartsOf(n, "web"))
}
