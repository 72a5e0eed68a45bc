// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

// busyTime is for how long it is measured how busy the machine is.
const busyTime = 3 * time.Second

// describeMachine says what the figures were measured on.
func describeMachine() (*result.Machine, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("opening /proc: %w", err)
	}
	cpus, err := proc.CPUInfo()
	if err != nil {
		return nil, fmt.Errorf("reading which CPU there is: %w", err)
	}
	memory, err := proc.Meminfo()
	if err != nil {
		return nil, fmt.Errorf("reading how much memory there is: %w", err)
	}
	busy, err := measureBusy(proc)
	if err != nil {
		return nil, fmt.Errorf("measuring how busy the machine is: %w", err)
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return nil, fmt.Errorf("reading the version of the kernel: %w", err)
	}
	machine := &result.Machine{Cores: runtime.NumCPU(), Kernel: strings.TrimSpace(string(kernel)), BusyBefore: busy}
	if len(cpus) > 0 {
		machine.CPU = cpus[0].ModelName
	}
	if memory.MemTotalBytes != nil {
		machine.Memory = *memory.MemTotalBytes
	}
	return machine, nil
}

// measureBusy returns the share of the machine's processors that is in use.
func measureBusy(proc procfs.FS) (float64, error) {
	before, err := proc.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading what processors did: %w", err)
	}
	time.Sleep(busyTime)
	after, err := proc.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading what processors did: %w", err)
	}
	idle := after.CPUTotal.Idle + after.CPUTotal.Iowait - before.CPUTotal.Idle - before.CPUTotal.Iowait
	return max(0, 1-idle/busyTime.Seconds()/float64(runtime.NumCPU())), nil
}
