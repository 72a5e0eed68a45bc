// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// restartPatience is how long three failures of the default liveness probe, ten seconds apart, and a new start may take.
const restartPatience = 3 * time.Minute

func lateListenerIsNotRestarted(n *namespace) {
	n.startsWithoutRestart("20s", 20*time.Second)
}

func slowStarterIsNotKilled(n *namespace) {
	n.startsWithoutRestart("2m", 2*time.Minute)
}

// startsWithoutRestart checks that an application that listens only after a while is not Ready before, and then is.
func (n *namespace) startsWithoutRestart(listenAfter string, while time.Duration) {
	n.t.Helper()
	n.create(newAppBox("web", withArgs("-listen-after="+listenAfter)))
	n.eventually("the container runs", func() error { return n.isStarting("web") })
	n.awaitReadyCondition("web", metav1.ConditionFalse, "", "container web: nothing answers on port 80, which the default startup probe checks; see spec.defaultProbes")
	eventually(n.t, while+patience, "box web is Ready", func() error {
		return hasCondition(n.box("web"), modelv1.ConditionReady, metav1.ConditionTrue, "")
	})
	expectEqual(n.t, "restarts", int32(0), n.restarts("web"))
}

// isStarting returns nil when the box has a pod whose main container runs, and is not ready.
func (n *namespace) isStarting(box string) error {
	pods, err := n.podsOf(box)
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

func deafApplicationIsRestarted(n *namespace) {
	n.createReady(newAppBox("web"))
	n.tell("web", "/listen/off")
	n.awaitReadyCondition("web", metav1.ConditionFalse, "", "container web: nothing answers on port 80, which the default readiness probe checks; see spec.defaultProbes")
	eventually(n.t, restartPatience, "the container is restarted", func() error {
		if restarts := n.restarts("web"); restarts != 1 {
			return fmt.Errorf("it was restarted %d times", restarts)
		}
		return nil
	})
	n.awaitReady("web")
	n.expectAnswer("web", "/version", "1")
	expectEqual(n.t, "restarts", int32(1), n.restarts("web"))
}
