// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc, on every architecture of Linux.
const tick = 10 * time.Millisecond

// Age returns how long ago a process was started, to the next tick of 10 ms.
func Age(pid int) (time.Duration, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, fmt.Errorf("finding process %d: %w", pid, err)
	}
	stat, err := process.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading when process %d was started: %w", pid, err)
	}
	var sinceBoot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &sinceBoot); err != nil {
		return 0, fmt.Errorf("reading the time since the machine was started: %w", err)
	}
	return time.Duration(sinceBoot.Nano()) - time.Duration(stat.Starttime)*tick, nil
}
