// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// prometheusStub answers every query with the value or the error.
type prometheusStub struct {
	mutex   sync.Mutex
	value   float64
	err     error
	queries []string
}

func (p *prometheusStub) Query(_ context.Context, query string) ([]float64, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.queries = append(p.queries, query)
	return []float64{p.value}, p.err
}

func (p *prometheusStub) answer(value float64, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.value, p.err = value, err
}

// newStepChecksTest returns a box whose steps need two successful measurements, one a minute, of at most one error.
func newStepChecksTest(t *testing.T, steps []modelv1.ModelBoxRolloutStep, changes ...func(*modelv1.ModelBox)) (*stepsTest, *prometheusStub) {
	t.Helper()
	prometheus := &prometheusStub{}
	s := newStepsTest(t, modelv1.RolloutCanary, steps, append(changes, func(box *modelv1.ModelBox) {
		box.Spec.Rollout.Checks = []modelv1.ModelBoxRolloutCheck{{
			Name: "errors", Prometheus: modelv1.ModelBoxPrometheusQuery{Query: `sum(errors{pod=~"web-canary-{{canary}}-.*"})`},
			Max: ptr.To(resource.MustParse("1")), Interval: "1m", Count: ptr.To[int32](2), FailureLimit: ptr.To[int32](0),
		}}
	})...)
	s.prometheus = prometheus
	s.startAnother(t)
	return s, prometheus
}

func TestStepsWaitForTheirPauseAndTheirChecks(t *testing.T) {
	for _, row := range []struct {
		name  string
		pause string
		// over is when the only step is over.
		over time.Duration
	}{
		{"no pause", "", time.Minute},
		{"a shorter pause", "30s", time.Minute},
		{"a longer pause", "5m", 5 * time.Minute},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, prometheus := newStepChecksTest(t, []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: row.pause}})
			s.changeBox(t, image("nginx:2"))
			s.runFor(t, row.over-time.Second)
			check(t, "step before the end", int32(1), *s.rollout(t).Step)
			s.runFor(t, time.Second)
			s.expectComplete(t, "nginx:2")
			if checks := s.rollout(t).Checks; len(checks) > 0 {
				t.Errorf("the checks are %+v in the end", checks)
			}
			check(t, "queries", int(row.over/time.Minute)+1, len(prometheus.queries))
		})
	}
}

func TestStepWithChecksWaitsForAPromotion(t *testing.T) {
	s, _ := newStepChecksTest(t, []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: modelv1.PauseManual}})
	s.changeBox(t, image("nginx:2"))
	s.runFor(t, time.Hour)
	check(t, "step", int32(1), *s.rollout(t).Step)
	s.promote(t)
	s.run(t)
	s.expectComplete(t, "nginx:2")
}

func TestFailedChecksFailRollouts(t *testing.T) {
	for _, row := range []struct {
		policy modelv1.RolloutFailurePolicy
		phase  modelv1.RolloutPhase
		images string
		step   int32
	}{
		{modelv1.RolloutFailureNone, modelv1.RolloutFailed, "3 of nginx:1, 1 of nginx:2", 1},
		{modelv1.RolloutFailurePause, modelv1.RolloutPaused, "3 of nginx:1, 1 of nginx:2", 1},
		{modelv1.RolloutFailureRollback, modelv1.RolloutRolledBack, "4 of nginx:1", 0},
	} {
		t.Run(string(row.policy), func(t *testing.T) {
			s, prometheus := newStepChecksTest(t, []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: "5m"}, {Weight: 50}}, onFailure(row.policy))
			s.changeBox(t, image("nginx:2"))
			s.runFor(t, 2*time.Minute)
			check(t, "phase before", modelv1.RolloutProgressing, s.rollout(t).Phase)
			prometheus.answer(2, nil)
			s.runFor(t, time.Hour)
			rollout := s.rollout(t)
			check(t, "phase", row.phase, rollout.Phase)
			check(t, "reason", modelv1.ReasonCheckFailed, rollout.Reason)
			check(t, "message", "check errors: 2 is more than 1", rollout.Message)
			check(t, "images", row.images, s.images(t))
			check(t, "step", row.step, ptr.Deref(rollout.Step, 0))
			check(t, "failures", int32(1), rollout.Checks[0].Failures)

			// The results of the failed rollout do not count for another try.
			prometheus.answer(0, nil)
			s.retry(t)
			s.runFor(t, 10*time.Minute)
			s.expectComplete(t, "nginx:2")
		})
	}
}

func TestStepsWaitForPrometheus(t *testing.T) {
	s, prometheus := newStepChecksTest(t, []modelv1.ModelBoxRolloutStep{{Weight: 25}})
	prometheus.answer(0, errors.New("the connection failed"))
	s.changeBox(t, image("nginx:2"))
	s.runFor(t, time.Hour)
	check(t, "step while Prometheus is unavailable", int32(1), *s.rollout(t).Step)
	prometheus.answer(0, nil)
	s.runFor(t, 2*time.Minute)
	s.expectComplete(t, "nginx:2")
}

// The stable pods that are still to come back are no rollback that is complete.
func TestRollbackInTheMiddleOfStepsIsToldOnce(t *testing.T) {
	s, prometheus := newStepChecksTest(t, []modelv1.ModelBoxRolloutStep{{Weight: 25, Pause: modelv1.PauseManual}}, onFailure(modelv1.RolloutFailureRollback))
	s.changeBox(t, image("nginx:2"))
	s.run(t)
	check(t, "replicas in the step", "3+1", s.numbers(t))
	prometheus.answer(2, nil)
	s.runFor(t, 2*time.Minute)
	s.expectNoSteps(t, "nginx:1")
	told := toldOf(s.told(), "RolledBack")
	if len(told) != 1 || !strings.Contains(told[0], "4 of 4 replicas are available") {
		t.Errorf("the events are %q", told)
	}
}
