// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// spawner starts every child from one thread that lives as long as the process.
//
// The kernel delivers a child's parent-death signal when the *thread* that
// created it ends, not the process. Go ends threads as it likes, so a child
// started from any goroutine could be killed at any time.
type spawner struct {
	requests chan spawnRequest
}

type spawnRequest struct {
	command *exec.Cmd
	started chan<- error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawnRequest)}
	go func() {
		runtime.LockOSThread()
		for request := range s.requests {
			request.started <- request.command.Start()
		}
	}()
	return s
}

// start starts command in a process group of its own, and in those namespaces, to
// be killed by the kernel when this process ends, however it ends.
func (s *spawner) start(command *exec.Cmd, namespaces uintptr) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: namespaces}
	started := make(chan error)
	s.requests <- spawnRequest{command, started}
	return <-started
}

// signalGroup signals a process and all that it started. That the group is gone
// already is no error.
func signalGroup(leader *os.Process, signal syscall.Signal) {
	_ = syscall.Kill(-leader.Pid, signal)
}
