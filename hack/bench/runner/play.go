// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package contest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/ground"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// Options are how scenarios are played.
type Options struct {
	Programs ground.Programs
	// Dir is where control planes live.
	Dir string
	result.Settings
	Say func(line string)
}

// Stage is where scenarios are played, one after the other.
type Stage struct {
	Options
	// ground is the control plane that is still there, if any, and of are its options.
	ground *ground.Ground
	of     ground.Options
}

// Play measures one scenario on a control plane of its own. When there is no time, with Quick, it is that of the scenario before
// where that needs the same. What was measured before an error is returned with it.
func (s *Stage) Play(ctx context.Context, scenario *Scenario) (*result.Scenario, error) {
	began := time.Now()
	s.Say(fmt.Sprintf("%s: %s", scenario.Name, scenario.Shows))
	if err := s.prepare(ctx, scenario); err != nil {
		return nil, fmt.Errorf("%s: %w", scenario.Name, err)
	}
	r := &Run{
		Ground: s.ground, Rounds: s.Rounds, Size: scenario.size(s.Settings), Quick: s.Quick, Full: s.Full, Say: s.Say,
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
	if s.ground != nil && s.of == scenario.Ground {
		return nil
	}
	if err := s.Clear(); err != nil {
		return err
	}
	began := time.Now()
	g, err := ground.Start(ctx, filepath.Join(s.Dir, scenario.Name), s.Programs, scenario.Ground)
	if err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	s.ground, s.of = g, scenario.Ground
	s.Say(fmt.Sprintf("  control plane ready after %.0f s", time.Since(began).Seconds()))
	return nil
}

// Clear ends the control plane that is still there.
func (s *Stage) Clear() error {
	if s.ground == nil {
		return nil
	}
	g := s.ground
	s.ground = nil
	return g.Stop()
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
