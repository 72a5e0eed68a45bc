// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const events = `starting the control plane
{"Action":"run","Test":"TestVelero"}
{"Action":"pass","Test":"TestVelero/no_pod_is_replaced"}
{"Action":"fail","Test":"TestVelero/boxes_adopt_their_services"}
{"Action":"fail","Test":"TestVelero"}
{"Action":"pass","Test":"TestFluxStopsWaitingForAStalledBox"}
{"Action":"skip","Test":"TestFlux/a|b"}
{"Action":"pass","Test":"TestOther"}
{"Action":"pass"}
`

func TestPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.json")
	if err := os.WriteFile(file, []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	results, err := readResults(file)
	if err != nil {
		t.Fatal(err)
	}
	programs := []program{{name: "Velero", tests: "TestVelero", version: "1.18.3"}, {name: "Flux", tests: "TestFlux", version: "0.76.0"}}
	var out bytes.Buffer
	if err := writePage(&out, programs, results, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "| ") || strings.Contains(line, "2026") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"`make test-ecosystem` wrote this page on 2026-01-02. [ecosystem.md](ecosystem.md) and [tools.md](tools.md) describe how to use the",
		"| program | version | tests | passed | failed |",
		"| Velero | 1.18.3 | 3 | 1 | 2 |",
		"| Flux | 0.76.0 | 2 | 1 | 0 |",
		"| test | result |",
		"| no pod is replaced | passed |",
		"| boxes adopt their services | failed |",
		"| all | failed |",
		"| test | result |",
		"| stops waiting for a stalled box | passed |",
		`| a\|b | skipped |`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProgramWithoutResults(t *testing.T) {
	err := writePage(&bytes.Buffer{}, []program{{name: "Velero", tests: "TestVelero"}}, nil, time.Now())
	if err == nil || !strings.Contains(err.Error(), "TestVelero") {
		t.Errorf("got error %v", err)
	}
}

func TestKnownProgramsHaveVersions(t *testing.T) {
	programs, err := readPrograms(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if !strings.Contains(p.version, ".") {
			t.Errorf("%s has version %q", p.name, p.version)
		}
	}
}
