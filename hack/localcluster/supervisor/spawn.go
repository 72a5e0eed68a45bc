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
// The kernel sends the parent-death signal to a child when the thread that created it ends, and not the process. Go may end threads
// at any time, and would then kill a child that an arbitrary goroutine has started.
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

// start starts command in a new process group and in new namespaces. The kernel kills it when this process ends for any reason.
func (s *spawner) start(command *exec.Cmd, namespaces uintptr) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: namespaces}
	started := make(chan error)
	s.requests <- spawnRequest{command, started}
	return <-started
}

// signalGroup sends a signal to a process and all processes that it has started. It returns no error if they have ended.
func signalGroup(leader *os.Process, signal syscall.Signal) {
	_ = syscall.Kill(-leader.Pid, signal)
}
