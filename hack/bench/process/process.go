// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package process reads what processes take of the machine.
package process

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// Usage is what a process has taken so far.
type Usage struct {
	// PID is the process ID.
	PID int
	CPU time.Duration
	// Resident is the memory that it has now, Peak the most that it has had since the peak was reset; in bytes.
	Resident, Peak uint64
}

// Read returns the usage of a process.
func Read(pid int) (Usage, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return Usage{}, fmt.Errorf("finding process %d: %w", pid, err)
	}
	stat, err := process.Stat()
	if err != nil {
		return Usage{}, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	status, err := process.NewStatus()
	if err != nil {
		return Usage{}, fmt.Errorf("reading the memory of process %d: %w", pid, err)
	}
	return Usage{
		PID:      pid,
		CPU:      time.Duration(stat.CPUTime() * float64(time.Second)),
		Resident: status.VmRSS,
		Peak:     status.VmHWM,
	}, nil
}

// ResetPeak makes what the process has now its peak.
func ResetPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("resetting the peak memory of process %d: %w", pid, err)
	}
	return nil
}

// Usages are the usages of several processes, by name.
type Usages map[string]Usage

// CPUSince returns how many seconds of CPU each process has used since then. A process that was not there then has used all of
// its CPU since; what the one used whose place it has taken is not known.
func (u Usages) CPUSince(before Usages) map[string]float64 {
	used := map[string]float64{}
	for name, usage := range u {
		if former := before[name]; former.PID == usage.PID {
			usage.CPU -= former.CPU
		}
		used[name] = usage.CPU.Seconds()
	}
	return used
}

// PeakSince returns how much more memory all of them have had at their peaks than they had before, in bytes.
func (u Usages) PeakSince(before Usages) float64 {
	total := 0.0
	for name, usage := range u {
		total += max(0, float64(usage.Peak)-float64(before[name].Resident))
	}
	return total
}

// Total adds up what several processes have used.
func Total(used map[string]float64) float64 {
	total := 0.0
	for _, value := range used {
		total += value
	}
	return total
}
