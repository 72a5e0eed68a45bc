// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package result is what a run of the benchmarks has measured, as it is stored for machines and read for reports.
package result

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Format is the format of the files that this program writes and reads.
const Format = 1

// Result is all that one run has measured.
type Result struct {
	Format    int               `json:"format"`
	Began     time.Time         `json:"began"`
	Ended     time.Time         `json:"ended"`
	Machine   Machine           `json:"machine"`
	Versions  map[string]string `json:"versions"`
	Settings  Settings          `json:"settings"`
	Scenarios []Scenario        `json:"scenarios"`
}

// Machine is what the run was on.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory uint64 `json:"memoryBytes"`
	Kernel string `json:"kernel"`
	// BusyBefore is the share of its processors that was in use right before the run: figures of a machine that has other
	// things to do say little.
	BusyBefore float64 `json:"busyBefore"`
}

// Settings are what was asked for.
type Settings struct {
	Rounds int `json:"rounds"`
	// Size is how many objects every scenario has; 0 is each one's own.
	Size  int  `json:"size,omitempty"`
	Quick bool `json:"quick,omitempty"`
	Full  bool `json:"full,omitempty"`
}

// Scenario is what one scenario has measured.
type Scenario struct {
	Name string `json:"name"`
	// Shows is what the scenario is about, in a sentence.
	Shows string `json:"shows"`
	// Notes say what else a reader has to know.
	Notes       []string     `json:"notes,omitempty"`
	Figures     []Figure     `json:"figures"`
	Comparisons []Comparison `json:"comparisons"`
	Goals       []Goal       `json:"goals,omitempty"`
	// Size is how many objects there were, or what else SizeOf names.
	Size         int           `json:"size"`
	SizeOf       string        `json:"sizeOf,omitempty"`
	Seconds      float64       `json:"seconds"`
	Measurements []Measurement `json:"measurements"`
}

// Figure is something that is measured.
type Figure struct {
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
}

// Unit is what a figure is in, and how it is written.
type Unit string

// Units of figures.
const (
	PerSecond Unit = "1/s"
	Seconds   Unit = "s"
	Bytes     Unit = "B"
	Count     Unit = ""
)

// Comparison is which contestant of ours is compared with which other one.
type Comparison struct {
	Ours string `json:"ours"`
	Peer string `json:"peer"`
}

// Goal is what a figure should be. Nothing fails for missing one.
type Goal struct {
	// Case is the one that the goal is for, or how those begin that it is for; empty for all.
	Case   string `json:"case,omitempty"`
	Figure string `json:"figure"`
	Ours   string `json:"ours"`
	// Peer is whose figure ours is divided by; the goal is for ours itself where it is empty.
	Peer string `json:"peer,omitempty"`
	// One of AtLeast and AtMost is given.
	AtLeast *float64 `json:"atLeast,omitempty"`
	AtMost  *float64 `json:"atMost,omitempty"`
}

// Measurement is what was measured of one contestant in one round.
type Measurement struct {
	// Case is what was done, such as "create, 16 clients".
	Case       string `json:"case"`
	Contestant string `json:"contestant"`
	Round      int    `json:"round"`
	// Size is how many objects there were, in a scenario that measures the same with several numbers of them; else 0.
	Size   int                `json:"size,omitempty"`
	Values map[string]float64 `json:"values"`
	// CPU is the seconds of CPU that each process of the control plane has used.
	CPU map[string]float64 `json:"cpuSeconds,omitempty"`
	// Latency is the latency of each request, in microseconds, as HdrHistogram encodes it.
	Latency string `json:"latency,omitempty"`
}

// Write writes the result to a file.
func (r *Result) Write(path string) error {
	content, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the result: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// Read returns the result in a file.
func Read(path string) (*Result, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a result: %w", err)
	}
	var r Result
	if err := json.Unmarshal(content, &r); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", path, err)
	}
	if r.Format != Format {
		return nil, fmt.Errorf("%s has format %d, this program reads %d", path, r.Format, Format)
	}
	return &r, nil
}

// IsBusy returns whether something else than the run had the machine.
func (m Machine) IsBusy() bool { return m.BusyBefore > 0.1 }
