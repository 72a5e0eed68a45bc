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

// Play measures one scenario on a control plane of its own. What was measured before an error is returned with it.
func Play(ctx context.Context, scenario *Scenario, options Options) (played *result.Scenario, err error) {
	began := time.Now()
	options.Say(fmt.Sprintf("%s: %s", scenario.Name, scenario.Shows))
	g, err := ground.Start(ctx, filepath.Join(options.Dir, scenario.Name), options.Programs, scenario.Ground)
	if err != nil {
		return nil, fmt.Errorf("%s: starting the control plane: %w", scenario.Name, err)
	}
	options.Say(fmt.Sprintf("  control plane ready after %.0f s", time.Since(began).Seconds()))
	r := &Run{
		Ground: g, Rounds: options.Rounds, Size: scenario.size(options.Settings), Quick: options.Quick, Say: options.Say,
		scenario: scenario,
	}
	defer func() {
		err = errors.Join(err, g.Stop())
		played = r.result(time.Since(began))
		options.Say(fmt.Sprintf("  done in %.0f s", time.Since(began).Seconds()))
	}()
	if err := scenario.Measure(ctx, r); err != nil {
		return nil, fmt.Errorf("%s: %w", scenario.Name, err)
	}
	return nil, nil
}

func (s *Scenario) size(settings result.Settings) int {
	switch {
	case settings.Size > 0:
		return settings.Size
	case settings.Quick:
		return s.QuickSize
	default:
		return s.Size
	}
}

func (r *Run) result(took time.Duration) *result.Scenario {
	return &result.Scenario{
		Name: r.scenario.Name, Shows: r.scenario.Shows, Notes: r.scenario.Notes,
		Figures: r.scenario.Figures, Comparisons: r.scenario.Comparisons, Goals: r.scenario.Goals,
		Size: r.Size, Seconds: took.Seconds(), Measurements: r.measurements,
	}
}
