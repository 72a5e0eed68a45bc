// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// testCase is a test function of a test program.
type testCase struct {
	program, dir, name string
	short              bool
	// took is how long the test takes without a mutant.
	took time.Duration
	// reaches are the numbers of the mutants that the test reaches.
	reaches map[int]bool
}

// buildTests compiles the tests of a package with the overlay, and lists them.
func buildTests(testPackage, overlay, program string, short bool) ([]*testCase, error) {
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o="+program, testPackage)
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the tests of %s: %w\n%s", testPackage, err, output)
	}
	list := exec.Command("go", "list", "-f={{.Dir}}", testPackage)
	dir, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("finding %s: %w", testPackage, err)
	}
	names, err := exec.Command(program, "-test.list=^(Test|Fuzz|Example)").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w", testPackage, err)
	}
	var cases []*testCase
	for _, name := range strings.Fields(string(names)) {
		cases = append(cases, &testCase{program: program, dir: strings.TrimSpace(string(dir)), name: name, short: short})
	}
	return cases, nil
}

// runTests runs tests of the same program with a mutant, 0 for none, and returns whether they pass.
func runTests(ctx context.Context, tests []*testCase, mutant int, traceFile string, timeout time.Duration) (bool, []byte) {
	names := make([]string, 0, len(tests))
	for _, test := range tests {
		names = append(names, test.name)
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	command := exec.CommandContext(ctx, tests[0].program, "-test.run=^("+strings.Join(names, "|")+")$", "-test.failfast",
		"-test.short="+strconv.FormatBool(tests[0].short), "-test.count=1")
	command.Dir = tests[0].dir
	command.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(mutant), "MUTANT_TRACE="+traceFile)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	return command.Run() == nil, output.Bytes()
}

// trace runs each test without a mutant, and notes its time and the mutants that it reaches.
func trace(suite []*testCase, dir string, workers int) error {
	var failures sync.Map
	forEach(suite, workers, func(i int, test *testCase) {
		file := filepath.Join(dir, fmt.Sprintf("trace-%d", i))
		began := time.Now()
		passes, output := runTests(context.Background(), []*testCase{test}, 0, file, 10*time.Minute)
		test.took = time.Since(began)
		if !passes {
			failures.Store(test.name, string(output))
			return
		}
		test.reaches = map[int]bool{}
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			failures.Store(test.name, err.Error())
		}
		for _, line := range strings.Fields(string(data)) {
			if id, err := strconv.Atoi(line); err == nil {
				test.reaches[id] = true
			}
		}
	})
	var err error
	failures.Range(func(name, output any) bool {
		err = errors.Join(err, fmt.Errorf("%s fails without a mutant:\n%s", name, output))
		return true
	})
	return err
}

// try runs the tests that reach each mutant, the fast ones first, until one fails. A test that takes much longer than without the mutant
// has failed.
func try(mutants []*mutant, suite []*testCase, workers int) {
	suite = slices.SortedFunc(slices.Values(suite), func(a, b *testCase) int { return cmp.Compare(a.took, b.took) })
	began, done := time.Now(), 0
	var progress sync.Mutex
	forEach(mutants, workers, func(_ int, m *mutant) {
		m.outcome = outcomeOf(m, suite)
		progress.Lock()
		defer progress.Unlock()
		if done++; done%50 == 0 {
			fmt.Printf("  %d of %d mutants, %s\n", done, len(mutants), time.Since(began).Round(time.Second))
		}
	})
}

// batchTime is how long the tests take that are run at once.
const batchTime = 3 * time.Second

func outcomeOf(m *mutant, suite []*testCase) outcome {
	var batch []*testCase
	var took time.Duration
	reached := false
	fails := func() bool {
		if len(batch) == 0 {
			return false
		}
		passes, _ := runTests(context.Background(), batch, m.id, "", 10*time.Second+5*took)
		batch, took = nil, 0
		return !passes
	}
	for _, test := range suite {
		if !test.reaches[m.id] {
			continue
		}
		reached = true
		if len(batch) > 0 && (batch[0].program != test.program || took+test.took > batchTime) && fails() {
			return killed
		}
		batch, took = append(batch, test), took+test.took
	}
	switch {
	case fails():
		return killed
	case reached:
		return survived
	default:
		return unreached
	}
}

// forEach calls the function for each element, with as many calls at a time as there are workers.
func forEach[E any](elements []E, workers int, call func(int, E)) {
	var group sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, element := range elements {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			call(i, element)
		})
	}
	group.Wait()
}
