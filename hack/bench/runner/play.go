// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

// Options are the options of a Stage.
type Options struct {
	Programs testbed.Programs
	// Dir is the directory of the control planes.
	Dir string
	result.Settings
	Say func(line string)
}

// Stage runs scenarios one after the other.
type Stage struct {
	Options
	// testbed is the control plane of the last scenario, nil if it is stopped. of are its options.
	testbed *testbed.Testbed
	of      testbed.Options
}

// Play runs one scenario on a new control plane. With Quick, it uses the control plane of the former scenario if it has the same
// options. After an error, it also returns the measurements until then.
func (s *Stage) Play(ctx context.Context, scenario *Scenario) (*result.Scenario, error) {
	began := time.Now()
	s.Say(fmt.Sprintf("%s: %s", scenario.Name, scenario.Shows))
	if err := s.prepare(ctx, scenario); err != nil {
		return nil, fmt.Errorf("%s: %w", scenario.Name, err)
	}
	r := &Run{
		Testbed: s.testbed, Rounds: s.Rounds, Size: scenario.size(s.Settings), Quick: s.Quick, Full: s.Full, Say: s.Say,
		scenario: scenario,
	}
	err := scenario.Measure(ctx, r)
	if err != nil {
		err = fmt.Errorf("%s: %w", scenario.Name, err)
	}
	if err != nil || !s.Quick {
		err = errors.Join(err, s.Clear())
	}
	took := time.Since(began)
	s.Say(fmt.Sprintf("  done in %.0f s", took.Seconds()))
	return r.result(took), err
}

func (s *Stage) prepare(ctx context.Context, scenario *Scenario) error {
	if s.testbed != nil && s.of == scenario.Testbed {
		return nil
	}
	if err := s.Clear(); err != nil {
		return err
	}
	began := time.Now()
	bed, err := testbed.Start(ctx, filepath.Join(s.Dir, scenario.Name), s.Programs, scenario.Testbed)
	if err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	s.testbed, s.of = bed, scenario.Testbed
	s.Say(fmt.Sprintf("  control plane ready after %.0f s", time.Since(began).Seconds()))
	return nil
}

// Clear stops the control plane of the last scenario.
func (s *Stage) Clear() error {
	if s.testbed == nil {
		return nil
	}
	bed := s.testbed
	s.testbed = nil
	return bed.Stop()
}

func (s *Scenario) size(settings result.Settings) int {
	switch {
	case settings.Size > 0:
		return settings.Size
	case settings.Quick:
		return s.QuickSize
	case settings.Full && s.FullSize > 0:
		return s.FullSize
	default:
		return s.Size
	}
}

func (r *Run) result(took time.Duration) *result.Scenario {
	return &result.Scenario{
		Name: r.scenario.Name, Shows: r.scenario.Shows, Notes: r.scenario.Notes,
		Figures: r.scenario.Figures, Comparisons: r.scenario.Comparisons, Goals: r.scenario.Goals,
		Size: r.Size, SizeOf: r.scenario.SizeOf, Seconds: took.Seconds(), Measurements: r.measurements,
	}
}
