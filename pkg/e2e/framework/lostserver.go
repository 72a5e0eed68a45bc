// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"path/filepath"
	"syscall"
	"testing"
)

// ControllerManagerProcess is the name of the garbage collector among the parts of a control plane.
const ControllerManagerProcess = "kube-controller-manager"

// QuickLease are flags of a server that takes the Lease soon of one that was killed.
var QuickLease = []string{"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms"}

// ServerDataDir is where the server has its embedded etcd.
func (p *ControlPlane) ServerDataDir() string { return filepath.Join(p.Dir, "modelbox", "data") }

// KillFrozenServer does something while the server stands still, and kills it then, and the garbage collector with it, which
// looks for everything anew when it is back. It returns the process that was killed.
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
