// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"path/filepath"
	"syscall"
	"testing"
)

// ControllerManagerProcess is the name of the process with the garbage collector.
const ControllerManagerProcess = "kube-controller-manager"

// QuickLease has the flags of a server that soon acquires the Lease of a killed server.
var QuickLease = []string{"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms"}

// ServerDataDir returns the data directory of the server.
func (p *ControlPlane) ServerDataDir() string { return filepath.Join(p.Dir, "modelbox", "data") }

// KillFrozenServer freezes the server, calls do, and then kills the server and the garbage collector, which rebuilds its graph
// after its restart. It returns the ID of the killed process of the server.
func (p *ControlPlane) KillFrozenServer(t *testing.T, do func()) (killed int) {
	t.Helper()
	killed = p.ServerPID(t)
	if err := syscall.Kill(killed, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	do()
	p.SignalServer(t, syscall.SIGKILL)
	p.SignalProcess(t, ControllerManagerProcess, syscall.SIGKILL)
	return killed
}
