// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package universe

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// The variables of the environment that TestUniverse reads.
const (
	// firstSeedVariable has the first seed. The default is 1.
	firstSeedVariable = "MODELBOX_UNIVERSE_SEED"
	// durationVariable has the time after which no more seeds are run. By default, the test runs shortSeeds seeds.
	durationVariable = "MODELBOX_UNIVERSE_DURATION"
	// onlyVariable is set to run the first seed only, and to write its trace.
	onlyVariable = "MODELBOX_UNIVERSE_TRACE"
)

// shrinkLimit is the time for which a plan is shrunk.
const shrinkLimit = 2 * time.Minute

// shortSeeds is the number of seeds that "make test" runs.
const shortSeeds = 1000

func TestMain(m *testing.M) {
	// Goroutines that run at the same time are the largest part of what the seed does not decide.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	os.Exit(m.Run())
}

// TestUniverse runs one seed after the other. It writes a trace of each seed that breaks a promise, and shrinks the plan of the first.
func TestUniverse(t *testing.T) {
	servers, err := NewServers()
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(1)
	if value := os.Getenv(firstSeedVariable); value != "" {
		if seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv(onlyVariable) != "" {
		runSeed(t, servers, seed, true)
		return
	}
	isOver := func(runs int) bool { return runs == shortSeeds }
	if value := os.Getenv(durationVariable); value != "" {
		duration, err := time.ParseDuration(value)
		if err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(duration)
		isOver = func(int) bool { return time.Now().After(end) }
	}
	var total Stats
	runs := 0
	for ; !isOver(runs); runs++ {
		total.add(runSeed(t, servers, seed+uint64(runs), false))
	}
	t.Logf("%d seeds from %d on: %d moves, %d requests, %d writes, of which %d by the controllers of ModelBox (%d without effect), %d faults, %d restarts, %d lost stores, %s simulated, %d states of boxes",
		runs, seed, total.Moves, total.Requests, total.Writes, total.WritesOfControllers, total.WritesWithoutEffect, total.Faults, total.Restarts, total.Losses, total.Simulated, servers.States())
}

// runSeed runs the plan of the seed, and reports the promises that it breaks.
func runSeed(t *testing.T, servers *Servers, seed uint64, keepsTrace bool) Stats {
	plan := NewPlan(seed)
	var trace bytes.Buffer
	result := runPlan(t, servers, plan, &trace)
	if keepsTrace || len(result.Violations) > 0 {
		t.Logf("trace of seed %d: %s", seed, writeTrace(t, fmt.Sprintf("seed-%d.log", seed), trace.Bytes()))
	}
	if len(result.Violations) == 0 {
		return result.Stats
	}
	isFirst := !t.Failed()
	for _, violation := range result.Violations {
		t.Errorf("seed %d: %s", seed, violation)
	}
	if !isFirst {
		return result.Stats
	}
	trace.Reset()
	plan = Shrink(plan, result.Violations[0].Promise, shrinkLimit, func(plan Plan) *Result { return runPlan(t, servers, plan, nil) })
	runPlan(t, servers, plan, &trace)
	t.Logf("the same in short: %s\n%s", writeTrace(t, fmt.Sprintf("seed-%d-short.log", seed), trace.Bytes()), plan)
	return result.Stats
}

// runPlan runs the plan in a bubble of its own.
func runPlan(t *testing.T, servers *Servers, plan Plan, trace io.Writer) *Result {
	var result *Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		if result, err = Run(t.Context(), servers, plan, trace); err != nil {
			t.Fatalf("seed %d: %v", plan.Seed, err)
		}
	})
	return result
}

// writeTrace writes the trace, and returns where it is.
func writeTrace(t *testing.T, name string, trace []byte) string {
	path := filepath.Join(os.TempDir(), "modelbox-universe-"+name)
	if err := os.WriteFile(path, trace, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
