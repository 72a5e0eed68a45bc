// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
)

var checksStart = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// answerFunc is a Prometheus.
type answerFunc func(ctx context.Context, query string) ([]float64, error)

func (f answerFunc) Query(ctx context.Context, query string) ([]float64, error) { return f(ctx, query) }

// checksTest is a StatefulSet in the first step of a rollout with one check.
type checksTest struct {
	*Reconciler
	box      *modelv1.ModelBox
	observed *status.Observation
	next     *modelv1.ModelBoxRolloutStatus
	step     int32
	// values and err are what Prometheus answers, and queries what it was asked.
	values  []float64
	err     error
	queries []string
}

func newChecksTest(change func(*modelv1.ModelBoxRolloutCheck)) *checksTest {
	check := modelv1.ModelBoxRolloutCheck{
		Name: "error-rate", Prometheus: modelv1.ModelBoxPrometheusQuery{Query: `sum(errors{pod=~"{{canary}}-.*"}) - sum(errors{pod=~"{{stable}}-.*"})`},
		Max: ptr.To(resource.MustParse("50m")), Min: ptr.To(resource.MustParse("-1")), Interval: "30s", Count: ptr.To[int32](1), FailureLimit: ptr.To[int32](0),
	}
	change(&check)
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	box.Spec.Rollout = &modelv1.ModelBoxRollout{Checks: []modelv1.ModelBoxRolloutCheck{check}}
	test := &checksTest{
		box: box, step: 1, values: []float64{0.01},
		next: &modelv1.ModelBoxRolloutStatus{Phase: modelv1.RolloutProgressing, StartedAt: metav1.NewTime(checksStart.Add(-time.Minute))},
		observed: &status.Observation{Now: checksStart, Workload: kinds.StatefulSet{StatefulSet: &appsv1.StatefulSet{
			Status: appsv1.StatefulSetStatus{CurrentRevision: "web-aaa", UpdateRevision: "web-bbb"},
		}}},
	}
	test.Reconciler = &Reconciler{measurements: newMeasurements(answerFunc(func(_ context.Context, query string) ([]float64, error) {
		test.queries = append(test.queries, query)
		return test.values, test.err
	}))}
	return test
}

// observe returns the verdict after the time.
func (c *checksTest) observe(t *testing.T, after time.Duration) checksVerdict {
	t.Helper()
	c.observed.Now = c.observed.Now.Add(after)
	c.next = c.next.DeepCopy()
	verdict, err := c.observeChecks(t.Context(), c.box, c.step, c.observed, c.next)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func unchanged(*modelv1.ModelBoxRolloutCheck) {}

func TestResultsOfAMeasurement(t *testing.T) {
	for _, row := range []struct {
		name   string
		values []float64
		err    error
		want   modelv1.ModelBoxRolloutCheckStatus
		// awaited is empty if the check is met, and failure if it has not failed.
		awaited, failure string
	}{
		{"a value within the limits", []float64{0.0123456789}, nil, modelv1.ModelBoxRolloutCheckStatus{Successes: 1, Value: "0.0123457"}, "", ""},
		{"the greatest value", []float64{0.05}, nil, modelv1.ModelBoxRolloutCheckStatus{Successes: 1, Value: "0.05"}, "", ""},
		{"the least value", []float64{-1}, nil, modelv1.ModelBoxRolloutCheckStatus{Successes: 1, Value: "-1"}, "", ""},
		{"too much", []float64{0.2}, nil, modelv1.ModelBoxRolloutCheckStatus{Failures: 1, Value: "0.2", Message: "0.2 is more than 0.05"},
			"check error-rate: 0 of 1 measurements (0.2 is more than 0.05)", "check error-rate: 0.2 is more than 0.05"},
		{"too little", []float64{-2}, nil, modelv1.ModelBoxRolloutCheckStatus{Failures: 1, Value: "-2", Message: "-2 is less than -1"},
			"check error-rate: 0 of 1 measurements (-2 is less than -1)", "check error-rate: -2 is less than -1"},
		{"infinity", []float64{math.Inf(1)}, nil, modelv1.ModelBoxRolloutCheckStatus{Failures: 1, Value: "+Inf", Message: "+Inf is more than 0.05"},
			"check error-rate: 0 of 1 measurements (+Inf is more than 0.05)", "check error-rate: +Inf is more than 0.05"},
		{"no data", nil, nil, modelv1.ModelBoxRolloutCheckStatus{Inconclusive: 1, Message: "no data"},
			"check error-rate: 0 of 1 measurements (no data)", ""},
		{"not a number", []float64{math.NaN()}, nil, modelv1.ModelBoxRolloutCheckStatus{Inconclusive: 1, Message: "the result is not a number"},
			"check error-rate: 0 of 1 measurements (the result is not a number)", ""},
		{"several series", []float64{0, 0}, nil, modelv1.ModelBoxRolloutCheckStatus{Inconclusive: 1, Message: "2 series instead of one"},
			"check error-rate: 0 of 1 measurements (2 series instead of one)", ""},
		{"no answer", nil, errors.New("no answer within 10s"), modelv1.ModelBoxRolloutCheckStatus{Message: "cannot query Prometheus: no answer within 10s"},
			"check error-rate: 0 of 1 measurements (cannot query Prometheus: no answer within 10s)", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newChecksTest(unchanged)
			c.values, c.err = row.values, row.err
			verdict := c.observe(t, 0)
			row.want.Name, row.want.Step = "error-rate", 1
			row.want.ReachedAt, row.want.LastMeasuredAt = ptr.To(metav1.NewTime(checksStart)), ptr.To(metav1.NewTime(checksStart))
			if diff := cmp.Diff([]modelv1.ModelBoxRolloutCheckStatus{row.want}, c.next.Checks); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			want := checksVerdict{areMet: row.awaited == "", awaited: row.awaited, failure: row.failure, recheckAfter: 30 * time.Second}
			if diff := cmp.Diff(want, verdict, cmp.AllowUnexported(checksVerdict{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{`sum(errors{namespace="shop",pod=~"web-bbb-.*"}) - sum(errors{namespace="shop",pod=~"web-aaa-.*"})`}, c.queries); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if c.box.Spec.Rollout.Checks[0].Max.String() != "50m" {
				t.Error("the box has changed")
			}
		})
	}
}

func TestChecksMeasureOnTheirInterval(t *testing.T) {
	c := newChecksTest(func(check *modelv1.ModelBoxRolloutCheck) { check.Count, check.InitialDelay = ptr.To[int32](3), "1m" })
	for _, step := range []struct {
		after    time.Duration
		queries  int
		awaited  string
		recheck  time.Duration
		areMet   bool
		describe string
	}{
		{0, 0, "check error-rate: 0 of 3 measurements", time.Minute, false, "the delay begins"},
		{59 * time.Second, 0, "check error-rate: 0 of 3 measurements", time.Second, false, "the delay ends soon"},
		{time.Second, 1, "check error-rate: 1 of 3 measurements", 30 * time.Second, false, "the first one"},
		{10 * time.Second, 1, "check error-rate: 1 of 3 measurements", 20 * time.Second, false, "another event of the box"},
		{20 * time.Second, 2, "check error-rate: 2 of 3 measurements", 30 * time.Second, false, "the second one"},
		{45 * time.Second, 3, "", 30 * time.Second, true, "the third one, late"},
		{30 * time.Second, 4, "", 30 * time.Second, true, "one more, while the step is paused"},
	} {
		verdict := c.observe(t, step.after)
		if len(c.queries) != step.queries || verdict.awaited != step.awaited || verdict.recheckAfter != step.recheck || verdict.areMet != step.areMet {
			t.Errorf("%s: %d queries, %+v", step.describe, len(c.queries), verdict)
		}
	}
}

func TestFailureLimit(t *testing.T) {
	c := newChecksTest(func(check *modelv1.ModelBoxRolloutCheck) { check.FailureLimit = ptr.To[int32](1) })
	c.values = []float64{1}
	if verdict := c.observe(t, 0); verdict.failure != "" || verdict.areMet {
		t.Errorf("after the first failure: %+v", verdict)
	}
	c.values = nil
	if verdict := c.observe(t, 30*time.Second); verdict.failure != "" || verdict.areMet {
		t.Errorf("without data: %+v", verdict)
	}
	c.values = []float64{2}
	want := "check error-rate: 2 is more than 0.05; 2 measurements of the step have failed, and failureLimit is 1"
	if verdict := c.observe(t, 30*time.Second); verdict.failure != want {
		t.Errorf("got %q, want %q", verdict.failure, want)
	}
}

func TestRolloutWaitsForPrometheus(t *testing.T) {
	c := newChecksTest(unchanged)
	if verdict := c.observe(t, 0); !verdict.areMet {
		t.Fatalf("got %+v", verdict)
	}
	c.err = errors.New("the connection failed")
	want := checksVerdict{awaited: "check error-rate: 1 of 1 measurements (cannot query Prometheus: the connection failed)", recheckAfter: 30 * time.Second}
	if diff := cmp.Diff(want, c.observe(t, 30*time.Second), cmp.AllowUnexported(checksVerdict{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	c.err = nil
	if verdict := c.observe(t, 30*time.Second); !verdict.areMet || c.next.Checks[0].Successes != 2 {
		t.Errorf("got %+v with %+v", verdict, c.next.Checks)
	}
}

func TestResultsOfAnotherStepOrAttemptDoNotCount(t *testing.T) {
	c := newChecksTest(func(check *modelv1.ModelBoxRolloutCheck) { check.InitialDelay = "1m" })
	c.observe(t, 0)
	c.observe(t, time.Minute)
	if c.next.Checks[0].Successes != 1 {
		t.Fatalf("got %+v", c.next.Checks)
	}
	fresh := func(step int32) []modelv1.ModelBoxRolloutCheckStatus {
		return []modelv1.ModelBoxRolloutCheckStatus{{Name: "error-rate", Step: step, ReachedAt: ptr.To(startOf(c.observed.Now))}}
	}
	c.step = 2
	verdict := c.observe(t, time.Second)
	if diff := cmp.Diff(fresh(2), c.next.Checks); diff != "" || verdict.areMet {
		t.Errorf("in the next step: %+v, -want +got:\n%s", verdict, diff)
	}
	c.observe(t, time.Minute)
	c.next.StartedAt = metav1.NewTime(c.observed.Now)
	verdict = c.observe(t, time.Second)
	if diff := cmp.Diff(fresh(2), c.next.Checks); diff != "" || verdict.areMet {
		t.Errorf("after a retry: %+v, -want +got:\n%s", verdict, diff)
	}
	if kept := measuredChecks(c.next.Checks); len(kept) > 0 {
		t.Errorf("a step that is no longer reached keeps %+v", kept)
	}
}

func TestQueriesThatCannotBeSent(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*checksTest)
		want   string
	}{
		{"a server without Prometheus", func(c *checksTest) { c.measurements.prometheus = nil }, "cannot query Prometheus: the server has no --prometheus-url"},
		{"a query that the server accepted once", func(c *checksTest) { c.box.Spec.Rollout.Checks[0].Prometheus.Query = `up{namespace="other"}` },
			`the query must not select by the label "namespace": the server selects the namespace of the box`},
		{"revisions that are not known", func(c *checksTest) { c.observed.Workload = kinds.StatefulSet{StatefulSet: &appsv1.StatefulSet{}} },
			"the hashes of the pods are not known yet"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newChecksTest(unchanged)
			row.change(c)
			verdict := c.observe(t, 0)
			want := checksVerdict{awaited: "check error-rate: 0 of 1 measurements (" + row.want + ")", recheckAfter: 30 * time.Second}
			if diff := cmp.Diff(want, verdict, cmp.AllowUnexported(checksVerdict{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(c.queries) > 0 {
				t.Errorf("got %q", c.queries)
			}
		})
	}
}

// A slow Prometheus must not keep the workers of the controller from other boxes.
func TestSlowPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChecksTest(unchanged)
		asked := 0
		c.measurements.prometheus = answerFunc(func(context.Context, string) ([]float64, error) {
			asked++
			time.Sleep(9 * time.Second)
			return []float64{0}, nil
		})
		begin := time.Now()
		verdict := c.observe(t, 0)
		if took := time.Since(begin); took != measurementTimeout || verdict.areMet || verdict.recheckAfter != measurementRecheck {
			t.Errorf("got %+v after %s", verdict, took)
		}
		begin = time.Now()
		if verdict = c.observe(t, 2*time.Second); time.Since(begin) > 0 || verdict.areMet || verdict.recheckAfter != measurementRecheck {
			t.Errorf("got %+v after %s", verdict, time.Since(begin))
		}
		time.Sleep(10 * time.Second)
		if verdict = c.observe(t, 8*time.Second); !verdict.areMet || verdict.recheckAfter != 20*time.Second || asked != 1 {
			t.Errorf("got %+v with %d queries", verdict, asked)
		}
		if at := c.next.Checks[0].LastMeasuredAt; !at.Time.Equal(checksStart) {
			t.Errorf("the measurement is of %s", at)
		}
	})
}

func TestLostStatusDoesNotRepeatAQuery(t *testing.T) {
	c := newChecksTest(unchanged)
	before := c.next.DeepCopy()
	c.observe(t, 0)
	first := c.next.Checks
	c.next = before
	c.values = []float64{1}
	c.next.Checks = []modelv1.ModelBoxRolloutCheckStatus{{Name: "error-rate", Step: 1, ReachedAt: first[0].ReachedAt}}
	c.observe(t, time.Second)
	if diff := cmp.Diff(first, c.next.Checks); diff != "" || len(c.queries) != 1 {
		t.Errorf("%d queries, -want +got:\n%s", len(c.queries), diff)
	}
	c.measurements.Forget(apply.KeyOf(c.box))
	if c.observe(t, time.Minute); len(c.queries) != 2 {
		t.Errorf("got %q", c.queries)
	}
}

func TestFailedCheckFailsTheRollout(t *testing.T) {
	c := newChecksTest(unchanged)
	c.next.PodsHash, c.next.NextStepAt = "bbb", ptr.To(metav1.NewTime(checksStart))
	c.box.Generation, c.box.Spec.Rollout.OnFailure = 2, modelv1.RolloutFailurePause
	if err := c.failChecks(t.Context(), c.box, "check error-rate: 1 is more than 0", c.observed, c.next); err != nil {
		t.Fatal(err)
	}
	want := &modelv1.ModelBoxRolloutStatus{
		Phase: modelv1.RolloutPaused, PodsHash: "bbb", Reason: "CheckFailed", Message: "check error-rate: 1 is more than 0",
		FailedRevisions: []modelv1.ModelBoxFailedRevision{{PodsHash: "bbb", Generation: 2, Name: "web-bbb", Reason: "CheckFailed"}},
	}
	if diff := cmp.Diff(want, c.next, cmpopts.IgnoreFields(modelv1.ModelBoxRolloutStatus{}, "StartedAt")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
