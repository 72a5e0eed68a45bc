// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package scenario has everything that contestants are compared in, one scenario a file.
package scenario

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/boxes"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/runner"
)

// All are the scenarios, in the order in which they are played. The first one needs a server without boxes; those that need the
// same control plane are next to each other.
var All = []*runner.Scenario{
	startScenario, apiScenario, listScenario, storageScenario, watchersScenario,
	convergeScenario, steadyScenario, driftScenario, stacksScenario, growthScenario,
	restartScenario, podsScenario, rolloutScenario,
}

// Named returns the scenarios of those names; all where there is no name.
func Named(names []string) ([]*runner.Scenario, error) {
	if len(names) == 0 {
		return All, nil
	}
	var named []*runner.Scenario
	for _, name := range names {
		i := slices.IndexFunc(All, func(s *runner.Scenario) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("scenario %q is none of %s", name, strings.Join(Names(), ", "))
		}
		named = append(named, All[i])
	}
	return named, nil
}

// Names are the names of all scenarios.
func Names() []string {
	var names []string
	for _, scenario := range All {
		names = append(names, scenario.Name)
	}
	return names
}

// Each API with the best client that it has, and with the same encoding.
var (
	bestClients  = result.Comparison{Ours: boxes.ModelBox.Name, Peer: boxes.CRD.Name}
	sameEncoding = result.Comparison{Ours: boxes.ModelBoxJSON.Name, Peer: boxes.CRD.Name}
)

// atLeast is a goal for a figure of ours, as a multiple of the peer's.
func atLeast(of string, c result.Comparison, figure string, ratio float64) result.Goal {
	return result.Goal{Case: of, Figure: figure, Ours: c.Ours, Peer: c.Peer, AtLeast: ptr.To(ratio)}
}

// atMost is the same in the other direction.
func atMost(of string, c result.Comparison, figure string, ratio float64) result.Goal {
	return result.Goal{Case: of, Figure: figure, Ours: c.Ours, Peer: c.Peer, AtMost: ptr.To(ratio)}
}
