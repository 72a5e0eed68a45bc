// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/load"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/process"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/report"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Run is one run of a scenario.
type Run struct {
	Testbed *testbed.Testbed
	// Rounds is the number of measurements of each contestant.
	Rounds int
	// Size is the number of objects.
	Size int
	// Quick allows leaving out measurements of growth, for a rough result.
	Quick bool
	// Full measures everything that the goals are about, independent of the time it takes.
	Full bool
	// Say reports progress to the user.
	Say func(line string)

	scenario     *Scenario
	measurements []result.Measurement
}

// Interleave calls measure for each contestant in turn, once a round: A B A B. Every other round is in reverse order, so that no
// contestant always follows the same one.
func Interleave[C any](r *Run, contestants []C, measure func(round int, contestant C) error) error {
	for round := range r.Rounds {
		order := slices.Clone(contestants)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, contestant := range order {
			if err := measure(round, contestant); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
	}
	return nil
}

// Record adds a measurement to the result, and reports it.
func (r *Run) Record(m result.Measurement) {
	r.measurements = append(r.measurements, m)
	var figures []string
	for _, figure := range r.scenario.Figures {
		if value, found := m.Values[figure.Name]; found {
			figures = append(figures, fmt.Sprintf("%s %s", figure.Name, report.Format(value, figure.Unit)))
		}
	}
	r.Say(fmt.Sprintf("  round %d of %d  %-20s %-28s %s", m.Round+1, r.Rounds, m.Case, m.Contestant, strings.Join(figures, ", ")))
}

// CPU returns the CPU seconds of each server for do and its consequences. It lets the servers settle before.
func (r *Run) CPU(ctx context.Context, do func() error) (map[string]float64, error) {
	if err := r.Testbed.Settle(ctx); err != nil {
		return nil, err
	}
	before, err := r.Testbed.Usage()
	if err != nil {
		return nil, err
	}
	if err := do(); err != nil {
		return nil, err
	}
	if err := r.Testbed.AwaitIdle(ctx); err != nil {
		return nil, err
	}
	after, err := r.Testbed.Usage()
	if err != nil {
		return nil, err
	}
	return after.CPUSince(before), nil
}

// PeakMemory returns the peak growth of the memory of the servers during do, in bytes. Call it inside of CPU.
func (r *Run) PeakMemory(do func() error) (float64, error) {
	if err := r.Testbed.ResetPeaks(); err != nil {
		return 0, err
	}
	before, err := r.Testbed.StoreUsage()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := r.Testbed.StoreUsage()
	if err != nil {
		return 0, err
	}
	return after.PeakSince(before), nil
}

// Requests returns the measurement of a number of requests.
func Requests(of, contestant string, round, requests int, outcome *load.Outcome, cpu map[string]float64) (result.Measurement, error) {
	latency, err := result.EncodeLatency(outcome.Latency)
	if err != nil {
		return result.Measurement{}, err
	}
	return result.Measurement{
		Case: of, Contestant: contestant, Round: round, CPU: cpu, Latency: latency,
		Values: map[string]float64{
			RequestsPerSecond: float64(requests) / outcome.Took.Seconds(),
			LatencyP50:        float64(outcome.Latency.ValueAtQuantile(50)) / 1e6,
			LatencyP99:        float64(outcome.Latency.ValueAtQuantile(99)) / 1e6,
			CPUPerRequest:     process.Total(cpu) / float64(requests),
		},
	}, nil
}

// The names of figures that several scenarios share.
const (
	RequestsPerSecond = "requests/s"
	LatencyP50        = "p50"
	LatencyP99        = "p99"
	CPUPerRequest     = "CPU a request"
	Time              = "time"
	Received          = "received"
	CPU               = "CPU"
	PeakMemory        = "peak memory"
	Allocated         = "allocated"
)
