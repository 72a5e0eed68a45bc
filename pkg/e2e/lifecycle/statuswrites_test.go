// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	rollingPods = 100

	// writePeriod is the minimum time between two writes of a status that only changes its counts.
	writePeriod = 2 * time.Second

	// rolloutTransitions is the number of other writes of a rollout: that it was observed, that it began, that too few pods serve,
	// that enough pods serve, that it is complete, and two for a busy machine.
	rolloutTransitions = 7
)

// TestRolloutCostsFewStatusWrites counts the writes of the status of a box with many pods. Their number depends on the duration of
// the rollout and not on the number of pods.
func TestRolloutCostsFewStatusWrites(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"the first rollout", func() { n.CreateBox(framework.NewBox("web", framework.WithReplicas(rollingPods))) }},
		{"a rollout of a new image", func() { n.UpdateBox("web", framework.WithImage(framework.NewImage)) }},
	} {
		before, began := n.Audit.StatusWrites("web"), time.Now()
		step.do()
		framework.Eventually(t, 3*framework.Patience, step.name+" is complete", func() error {
			return framework.CheckCondition(n.GetBox("web"), modelv1.ConditionReady, metav1.ConditionTrue, "")
		})
		took, writes := time.Since(began), n.Audit.StatusWrites("web")-before
		most := int(took/writePeriod) + rolloutTransitions
		t.Logf("%s of %d pods took %s and %d writes of the status, at most %d are due", step.name, rollingPods, took.Round(time.Millisecond), writes, most)
		if writes > most {
			t.Errorf("%s of %d pods took %d writes of the status in %s, want at most %d", step.name, rollingPods, writes, took, most)
		}
	}
}
