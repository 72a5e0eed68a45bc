// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/result"
)

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
	load, err := proc.LoadAvg()
	if err != nil {
		return nil, fmt.Errorf("reading the load: %w", err)
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return nil, fmt.Errorf("reading the version of the kernel: %w", err)
	}
	machine := &result.Machine{Cores: runtime.NumCPU(), Kernel: strings.TrimSpace(string(kernel)), Load: load.Load1}
	if len(cpus) > 0 {
		machine.CPU = cpus[0].ModelName
	}
	if memory.MemTotalBytes != nil {
		machine.Memory = *memory.MemTotalBytes
	}
	return machine, nil
}
