// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rolloutchecks

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// checkOf returns the check "errors" of the values of a query, at most limit.
func checkOf(query, limit string) modelv1.ModelBoxRolloutCheck {
	return modelv1.ModelBoxRolloutCheck{
		Name:       "errors",
		Prometheus: modelv1.ModelBoxPrometheusQuery{Query: query},
		Max:        ptr.To(resource.MustParse(limit)),
		Interval:   "5s",
	}
}

// The queries for the errors of the new pods of box web, of which a StatefulSet has one.
const (
	errorsOfCanary      = `sum(` + errorsMetric + `{pod=~"web-canary-{{canary}}-.*"})`
	errorsOfStatefulSet = `sum(` + errorsMetric + `{pod="web-1"})`
)

func withCheck(check modelv1.ModelBoxRolloutCheck, rolloutType modelv1.RolloutType, steps ...modelv1.ModelBoxRolloutStep) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		framework.WithSteps(rolloutType, steps...)(spec)
		spec.Rollout.Checks = []modelv1.ModelBoxRolloutCheck{check}
	}
}

// TestChecksOfRollouts rolls new images out that have one error a pod.
func TestChecksOfRollouts(t *testing.T) {
	prometheus := newPrometheus(t)
	plane := framework.NewControlPlane(t, framework.ServerFlags("--prometheus-url="+prometheus.URL)...)
	prometheus.pods.SetPlane(plane)

	half := modelv1.ModelBoxRolloutStep{Weight: 50}
	t.Run("beside each other", func(t *testing.T) {
		for _, row := range []struct {
			name string
			test func(*framework.Namespace)
		}{
			{"a check that succeeds", func(n *framework.Namespace) {
				check := checkOf(errorsOfCanary, "1")
				check.Count = ptr.To[int32](2)
				n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), withCheck(check, modelv1.RolloutCanary, half)))
				n.UpdateBox("web", framework.WithImage(framework.NewImage))
				n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonProgressing, "waiting for check errors: 1 of 2 measurements")
				awaitCheck(n, func(check *modelv1.ModelBoxRolloutCheckStatus) bool { return check.Value == "1" && check.Successes > 0 })
				n.AwaitReady("web")
				n.AwaitImages("web", map[string]int{framework.NewImage: 2})
			}},
			{"a check that fails", func(n *framework.Namespace) {
				n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), withCheck(checkOf(errorsOfCanary, "0"), modelv1.RolloutCanary, half)))
				n.UpdateBox("web", framework.WithImage(framework.NewImage))
				n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonRolledBack, "check errors: 1 is more than 0")
				n.AwaitImages("web", map[string]int{framework.Image: 2})
				rollout := n.GetBox("web").Status.Rollout
				framework.ExpectEqual(n.T, "reason", modelv1.ReasonCheckFailed, rollout.Reason)
				framework.ExpectEqual(n.T, "reason of the failed revision", modelv1.ReasonCheckFailed, rollout.FailedRevisions[0].Reason)
				n.ExpectConverged("web")
			}},
			{"a check of all pods before they get traffic", func(n *framework.Namespace) {
				check := checkOf(errorsOfCanary, "1")
				check.Count = ptr.To[int32](3) // The first measurement may come before Prometheus has the metrics of both pods.
				n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), withCheck(check, modelv1.RolloutBlueGreen)))
				n.UpdateBox("web", framework.WithImage(framework.NewImage))
				n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonRolledBack, "check errors: 2 is more than 1")
				n.AwaitImages("web", map[string]int{framework.Image: 2})
			}},
			{"a check of a StatefulSet", func(n *framework.Namespace) {
				check := checkOf(errorsOfStatefulSet, "0")
				check.Count = ptr.To[int32](2) // At first, Prometheus may have the metrics of the former pod of the name.
				n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(modelv1.WorkloadStatefulSet), framework.WithReplicas(2),
					withCheck(check, modelv1.RolloutCanary, half)))
				n.UpdateBox("web", framework.WithImage(framework.NewImage))
				n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonRolledBack, "check errors: 1 is more than 0")
				n.AwaitImages("web", map[string]int{framework.Image: 2})
			}},
			{"metrics of another namespace", func(n *framework.Namespace) {
				other := plane.NewNamespace(n.T)
				other.CreateReadyBox(framework.NewBox("other"))
				check := checkOf(errorsMetric+`{pod=~"other-.*"}`, "0")
				n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), withCheck(check, modelv1.RolloutCanary, half)))
				n.UpdateBox("web", framework.WithImage(framework.NewImage))
				awaitCheck(n, func(check *modelv1.ModelBoxRolloutCheckStatus) bool {
					return check.Inconclusive > 1 && check.Message == "no data"
				})
				n.AwaitStep("web", 1, 50)
				n.Promote("web")
				n.AwaitReady("web")
			}},
			{"a query for another namespace", func(n *framework.Namespace) {
				box := framework.NewBox("web", withCheck(checkOf(errorsMetric+`{namespace="kube-system"}`, "0"), modelv1.RolloutCanary, half))
				_, err := n.Boxes.Create(n.Ctx, box, metav1.CreateOptions{})
				framework.ExpectInvalid(n.T, err, "spec.rollout.checks[0].prometheus.query")
			}},
		} {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				row.test(plane.NewNamespace(t))
			})
		}
	})
	t.Run("Prometheus is unavailable", func(t *testing.T) {
		n := plane.NewNamespace(t)
		n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), withCheck(checkOf(errorsOfCanary, "1"), modelv1.RolloutCanary, half)))
		prometheus.Stop(t)
		n.UpdateBox("web", framework.WithImage(framework.NewImage))
		n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonProgressing, "check errors: 0 of 1 measurements", "cannot query Prometheus")
		prometheus.Start(t)
		n.AwaitReady("web")
		n.AwaitImages("web", map[string]int{framework.NewImage: 2})
	})
}

// awaitCheck waits until the result of the check of box web is as wanted.
func awaitCheck(n *framework.Namespace, isAsWanted func(*modelv1.ModelBoxRolloutCheckStatus) bool) {
	n.T.Helper()
	n.AwaitBox("web", "has the result of its check", func(box *modelv1.ModelBox) error {
		if rollout := box.Status.Rollout; rollout == nil || len(rollout.Checks) != 1 || !isAsWanted(&rollout.Checks[0]) {
			return fmt.Errorf("its rollout is %+v", rollout)
		}
		return nil
	})
}

// TestChecksWithoutPrometheus expects that a server without a Prometheus refuses checks.
func TestChecksWithoutPrometheus(t *testing.T) {
	n := framework.NewNamespace(t)
	box := framework.NewBox("web", withCheck(checkOf("1", "1"), modelv1.RolloutCanary, modelv1.ModelBoxRolloutStep{Weight: 50}))
	_, err := n.Boxes.Create(n.Ctx, box, metav1.CreateOptions{})
	framework.ExpectInvalid(t, err, "spec.rollout.checks")
}
