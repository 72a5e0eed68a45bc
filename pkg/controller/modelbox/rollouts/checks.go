// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/message"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/status"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/promquery"
)

// defaultCheckInterval is modelv1.DefaultCheckInterval.
const defaultCheckInterval = 30 * time.Second

// cannotQuery comes before the reason in the message of a check that has no answer.
const cannotQuery = "cannot query Prometheus: "

// checksVerdict is what follows from the checks of a step.
type checksVerdict struct {
	// areMet is true if the checks let the rollout continue.
	areMet bool
	// awaited is the check that they do not, with its results.
	awaited string
	// failure says which check has failed the rollout. It is empty if none has.
	failure string
	// recheckAfter is after how long the next measurement is due, 0 for never.
	recheckAfter time.Duration
}

// observeChecks measures what is due in a step that is reached. It changes the results of the checks in next.
func (r *Reconciler) observeChecks(ctx context.Context, box *modelv1.ModelBox, step int32, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) (checksVerdict, error) {
	checks := box.Spec.Rollout.Checks
	next.Checks = checksOfStep(box, step, observed.Now, next)
	if len(checks) == 0 {
		return checksVerdict{areMet: true}, nil
	}
	due, verdict := make([]*measurement, len(checks)), checksVerdict{}
	var started []*measurement
	for i := range checks {
		check, state := &checks[i], &next.Checks[i]
		if left := timeToMeasurement(check, state).Sub(observed.Now); left > 0 {
			verdict.recheckAfter = reconciler.Soonest(verdict.recheckAfter, left)
			continue
		}
		query, err := r.queryOf(ctx, box, check, observed)
		if unaskable := (*unaskableError)(nil); errors.As(err, &unaskable) {
			state.Message = message.Truncate(unaskable.Error())
			verdict.recheckAfter = reconciler.Soonest(verdict.recheckAfter, intervalOf(check))
			continue
		} else if err != nil {
			return verdict, err
		}
		measurement, isStarted := r.measurements.start(ctx, apply.KeyOf(box), query, state, observed.Now)
		if due[i] = measurement; isStarted {
			started = append(started, measurement)
		}
	}
	await(ctx, started)
	for i, measurement := range due {
		check, state := &checks[i], &next.Checks[i]
		switch {
		case measurement == nil:
		case !measurement.isDone():
			verdict.recheckAfter = reconciler.Soonest(verdict.recheckAfter, measurementRecheck)
		default:
			record(ctx, check, state, measurement)
			left := timeToMeasurement(check, state).Sub(observed.Now)
			verdict.recheckAfter = reconciler.Soonest(verdict.recheckAfter, max(left, time.Second))
		}
		if verdict.failure == "" {
			verdict.failure = failureOf(check, state)
		}
	}
	verdict.awaited = describeAwaited(checks, next.Checks)
	verdict.areMet = verdict.awaited == ""
	return verdict, nil
}

// checksOfStep returns the results of the checks in the step, in the order of the checks. It ignores the results of another step,
// and of an earlier attempt.
func checksOfStep(box *modelv1.ModelBox, step int32, now time.Time, last *modelv1.ModelBoxRolloutStatus) []modelv1.ModelBoxRolloutCheckStatus {
	var states []modelv1.ModelBoxRolloutCheckStatus
	for i := range box.Spec.Rollout.Checks {
		name := box.Spec.Rollout.Checks[i].Name
		known := slices.IndexFunc(last.Checks, func(state modelv1.ModelBoxRolloutCheckStatus) bool {
			return state.Name == name && state.Step == step && !state.ReachedAt.Before(&last.StartedAt)
		})
		if known >= 0 {
			states = append(states, last.Checks[known])
		} else {
			states = append(states, modelv1.ModelBoxRolloutCheckStatus{Name: name, Step: step, ReachedAt: ptr.To(startOf(now))})
		}
	}
	return states
}

// measuredChecks returns the results that a step keeps if its pods are no longer available. An initial delay begins again.
func measuredChecks(states []modelv1.ModelBoxRolloutCheckStatus) []modelv1.ModelBoxRolloutCheckStatus {
	return slices.DeleteFunc(slices.Clone(states), func(state modelv1.ModelBoxRolloutCheckStatus) bool { return state.LastMeasuredAt == nil })
}

// timeToMeasurement returns when the next measurement of the check is due.
func timeToMeasurement(check *modelv1.ModelBoxRolloutCheck, state *modelv1.ModelBoxRolloutCheckStatus) time.Time {
	if state.LastMeasuredAt != nil {
		return state.LastMeasuredAt.Add(intervalOf(check))
	}
	delay, err := time.ParseDuration(check.InitialDelay)
	if err != nil {
		delay = 0 // There is none, or validation would not let the box in.
	}
	return state.ReachedAt.Add(delay)
}

func intervalOf(check *modelv1.ModelBoxRolloutCheck) time.Duration {
	interval, err := time.ParseDuration(check.Interval)
	if err != nil || interval <= 0 {
		return defaultCheckInterval
	}
	return interval
}

// unaskableError is why there is no query to send. It is a message for the user.
type unaskableError struct{ reason string }

func (e *unaskableError) Error() string { return e.reason }

// queryOf returns the query of the check, which is confined to the namespace of the box.
func (r *Reconciler) queryOf(ctx context.Context, box *modelv1.ModelBox, check *modelv1.ModelBoxRolloutCheck, observed *status.Observation) (string, error) {
	if r.measurements.prometheus == nil {
		return "", &unaskableError{cannotQuery + "the server has no --prometheus-url"}
	}
	var hashes promquery.Hashes
	usesStable, usesCanary := promquery.UsesHashes(check.Prometheus.Query)
	if usesStable || usesCanary {
		var err error
		if hashes, err = r.hashesOf(ctx, box, observed); err != nil {
			return "", err
		}
		if usesStable && hashes.Stable == "" || usesCanary && hashes.Canary == "" {
			return "", &unaskableError{"the hashes of the pods are not known yet"}
		}
	}
	query, err := promquery.Confine(check.Prometheus.Query, box.Namespace, hashes)
	if err != nil {
		return "", &unaskableError{"the query " + err.Error()}
	}
	return query, nil
}

// record adds a measurement to the results of its check.
func record(ctx context.Context, check *modelv1.ModelBoxRolloutCheck, state *modelv1.ModelBoxRolloutCheckStatus, measured *measurement) {
	before := state.Message
	state.LastMeasuredAt, state.Value, state.Message = ptr.To(measured.at), "", ""
	switch values := measured.values; {
	case measured.err != nil:
		state.Message = message.Truncate(cannotQuery + measured.err.Error())
		if state.Message != before {
			klog.FromContext(ctx).Info("Cannot query Prometheus", "check", check.Name, "err", measured.err, "cause", errors.Unwrap(measured.err))
		}
	case len(values) == 0:
		state.Inconclusive++
		state.Message = "no data"
	case len(values) > 1:
		state.Inconclusive++
		state.Message = fmt.Sprintf("%d series instead of one", len(values))
	case math.IsNaN(values[0]):
		state.Inconclusive++
		state.Message = "the result is not a number"
	default:
		state.Value = decimal(values[0])
		if state.Message = violation(check, values[0]); state.Message != "" {
			state.Failures++
		} else {
			state.Successes++
		}
	}
}

// violation says which limit of the check the value exceeds. It is empty if the value exceeds none.
func violation(check *modelv1.ModelBoxRolloutCheck, value float64) string {
	if check.Max != nil {
		if limit := check.Max.AsApproximateFloat64(); value > limit {
			return fmt.Sprintf("%s is more than %s", decimal(value), decimal(limit))
		}
	}
	if check.Min != nil {
		if limit := check.Min.AsApproximateFloat64(); value < limit {
			return fmt.Sprintf("%s is less than %s", decimal(value), decimal(limit))
		}
	}
	return ""
}

// decimal returns a value, or a limit, as users read it.
func decimal(value float64) string { return strconv.FormatFloat(value, 'g', 6, 64) }

// failureOf says why the check fails the rollout. It is empty if it does not.
func failureOf(check *modelv1.ModelBoxRolloutCheck, state *modelv1.ModelBoxRolloutCheckStatus) string {
	limit := ptr.Deref(check.FailureLimit, 0)
	switch {
	case state.Failures <= limit:
		return ""
	case limit == 0:
		return fmt.Sprintf("check %s: %s", check.Name, state.Message)
	default:
		return fmt.Sprintf("check %s: %s; %d measurements of the step have failed, and failureLimit is %d", check.Name, state.Message, state.Failures, limit)
	}
}

// describeAwaited describes a check that the rollout waits for, preferably one with a message. It is empty if there is none.
func describeAwaited(checks []modelv1.ModelBoxRolloutCheck, states []modelv1.ModelBoxRolloutCheckStatus) string {
	var awaited string
	for i := range checks {
		if helper.IsCheckMet(&checks[i], &states[i]) {
			continue
		}
		description := fmt.Sprintf("check %s: %d of %d measurements", checks[i].Name, states[i].Successes, ptr.Deref(checks[i].Count, 1))
		if states[i].Message != "" {
			return fmt.Sprintf("%s (%s)", description, states[i].Message)
		}
		if awaited == "" {
			awaited = description
		}
	}
	return awaited
}

// newRevisionName returns the name of the ReplicaSet or ControllerRevision of the new revision, empty where it is not known.
func (r *Reconciler) newRevisionName(ctx context.Context, box *modelv1.ModelBox, observed *status.Observation) (string, error) {
	hashes, err := r.hashesOf(ctx, box, observed)
	switch {
	case err != nil:
		return "", err
	case observed.Candidate != nil:
		return nameWithHash(observed.Candidate, hashes.Canary), nil
	}
	if set, isDaemonSet := observed.Workload.(kinds.DaemonSet); isDaemonSet {
		return nameWithHash(set, hashes.Canary), nil
	}
	return hashes.Canary, nil // The label of the pods of a StatefulSet is the name.
}

// failChecks makes next the status of a rollout that a check has failed.
func (r *Reconciler) failChecks(ctx context.Context, box *modelv1.ModelBox, failure string, observed *status.Observation, next *modelv1.ModelBoxRolloutStatus) error {
	revision, err := r.newRevisionName(ctx, box, observed)
	if err != nil {
		return err
	}
	r.fail(box, modelv1.ReasonCheckFailed, failure, revision, next)
	next.NextStepAt = nil
	return nil
}
