// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// step is one call of "go test". Its times are seconds.
type step struct {
	name string
	// clock and cpu are the times of the whole step, including the compiler.
	clock, cpu float64
	// testCPU is the CPU time of the test programs, 0 if it was not measured. It does not include programs that they leave running.
	testCPU  float64
	packages []timed
	tests    []timed
}

// timed is a package or a test. The clock of a test includes the time that it waits for other parallel ones. The cpu of a package is 0
// if it was not measured.
type timed struct {
	step, name string
	clock, cpu float64
}

func readSteps(dir string) ([]step, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, file := range files {
		s, err := readStep(strings.TrimSuffix(file, ".json"))
		if err != nil {
			return nil, fmt.Errorf("reading step %s: %w", file, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func readStep(base string) (step, error) {
	s := step{name: filepath.Base(base)}
	cpuByDir := map[string]float64{}
	if err := eachLine(base+".cpu", func(line string) error {
		dir, seconds, _ := strings.Cut(line, "\t")
		cpu, err := strconv.ParseFloat(seconds, 64)
		cpuByDir[dir] += cpu
		s.testCPU += cpu
		return err
	}); err != nil {
		return step{}, err
	}
	if err := eachLine(base+".total", func(line string) error {
		var user, system float64
		_, err := fmt.Sscan(line, &s.clock, &user, &system)
		s.cpu = user + system
		return err
	}); err != nil {
		return step{}, err
	}
	err := eachLine(base+".json", func(line string) error {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return err
		}
		if event.Action != "pass" && event.Action != "fail" {
			return nil
		}
		if event.Test == "" {
			s.packages = append(s.packages, timed{s.name, event.Package, event.Elapsed, cpuOf(cpuByDir, event.Package)})
		} else if !strings.Contains(event.Test, "/") {
			s.tests = append(s.tests, timed{s.name, event.Package + "." + event.Test, event.Elapsed, 0})
		}
		return nil
	})
	return s, err
}

// cpuOf finds the directory of a package: its path ends as the path of the package does.
func cpuOf(cpuByDir map[string]float64, path string) float64 {
	best, common := 0.0, 0
	for dir, cpu := range cpuByDir {
		if n := commonSuffix(dir, path); n > common {
			best, common = cpu, n
		}
	}
	return best
}

// commonSuffix returns the number of common elements at the ends of two paths.
func commonSuffix(a, b string) int {
	one, other := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(one) && n < len(other) && one[len(one)-1-n] == other[len(other)-1-n] {
		n++
	}
	return n
}

// eachLine calls do with each line of a file. A file that does not exist has none: some steps do not measure the CPU time of their test
// programs.
func eachLine(path string, do func(string) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if err := do(lines.Text()); err != nil {
			return fmt.Errorf("%s: %w", lines.Text(), err)
		}
	}
	return lines.Err()
}
