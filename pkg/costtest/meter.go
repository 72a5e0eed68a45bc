// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package costtest compares in tests the cost of the product with its cost in the last release. The cost is in counts, which are the
// same on every machine, and not in seconds.
package costtest

import (
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

const (
	// rounds and runs are how often a function runs whose allocations are counted: the result is the round with the fewest, because
	// background work can only add to them.
	rounds = 5
	runs   = 10
)

// Meter counts what a subject costs. At the end of a test that has not failed, it compares them with the counts of the last release,
// and fails the test if one is too high. With UPDATE_COUNTS=true, it writes them instead.
type Meter struct {
	t      testing.TB
	counts Counts
}

// NewMeter returns a meter for a subject, which the file with its counts is named after.
func NewMeter(t testing.TB, subject string) *Meter {
	t.Helper()
	m := &Meter{t: t, counts: Counts{}}
	t.Cleanup(func() {
		if !t.Failed() && !t.Skipped() {
			m.finish(subject)
		}
	})
	return m
}

// Allocations counts the allocations of the process while do runs. No parallel test may run meanwhile.
func (m *Meter) Allocations(name string, do func()) {
	m.t.Helper()
	// A garbage collection empties pools, and their objects are allocated again.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := math.Inf(1)
	for range rounds {
		runtime.GC()
		least = min(least, testing.AllocsPerRun(runs, do))
	}
	m.counts.set(Allocations, name, int64(least))
}

// Bytes records a number of bytes.
func (m *Meter) Bytes(name string, count int) {
	m.counts.set(Bytes, name, int64(count))
}

// Requests counts equal requests of a step, such as "patch deployments". If the step is repeated, each with its own requests, the
// lowest number counts.
func (m *Meter) Requests(step string, repetitions ...[]string) {
	for request, count := range leastRequests(repetitions) {
		m.counts.set(Requests, step+", "+request, count)
	}
}

// leastRequests returns how often each request is in all of the lists.
func leastRequests(lists [][]string) map[string]int64 {
	var least map[string]int64
	for _, list := range lists {
		counts := map[string]int64{}
		for _, request := range list {
			counts[request]++
		}
		if least == nil {
			least = counts
			continue
		}
		for request := range least {
			least[request] = min(least[request], counts[request])
			if least[request] == 0 {
				delete(least, request)
			}
		}
	}
	return least
}

// finish compares the counts with the fixture or writes it.
func (m *Meter) finish(subject string) {
	m.t.Helper()
	file := fixtureFile(subject)
	if isUpdate() {
		if err := writeFixture(file, subject, m.counts); err != nil {
			m.t.Fatal(err)
		}
		return
	}
	command := updateCommand(m.t)
	want, err := readFixture(file)
	if err != nil {
		m.t.Fatalf("%v. This command writes the counts: %s", err, command)
	}
	compared := compare(release, want, m.counts)
	if len(compared.exceeded) > 0 {
		m.t.Errorf("%s costs more than in %s:\n  %s\nFind the cause. If the cost is intended, this command records it: %s",
			subject, release, strings.Join(compared.exceeded, "\n  "), command)
	}
	if len(compared.lower) > 0 {
		m.t.Logf("%s costs less than in %s:\n  %s\nThis command records it: %s",
			subject, release, strings.Join(compared.lower, "\n  "), command)
	}
}

// updateCommand returns the command that writes the counts of a test.
func updateCommand(t testing.TB) string {
	dir, err := filepath.Rel(root(), workingDirectory())
	if err != nil {
		panic(err) // the root is a parent of the directory
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	return updateVariable + "=true go test ./" + filepath.ToSlash(dir) + " -run '^" + test + "$'"
}
