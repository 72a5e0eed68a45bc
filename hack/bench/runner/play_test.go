// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

func TestSize(t *testing.T) {
	all := &Scenario{Size: 500, QuickSize: 60, FullSize: 5000}
	for _, row := range []struct {
		name     string
		scenario *Scenario
		settings result.Settings
		want     int
	}{
		{"by default", all, result.Settings{}, 500},
		{"quick", all, result.Settings{Quick: true}, 60},
		{"full", all, result.Settings{Full: true}, 5000},
		{"full, of what is so by default", &Scenario{Size: 500, QuickSize: 60}, result.Settings{Full: true}, 500},
		{"asked for", all, result.Settings{Size: 7, Full: true}, 7},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := row.scenario.size(row.settings); got != row.want {
				t.Errorf("got %d, want %d", got, row.want)
			}
		})
	}
}
