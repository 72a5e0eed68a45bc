// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/ground"
)

const (
	// Command is that of this program that is the operator.
	Command = "operator"
	// StartedLine is what it prints when it works.
	StartedLine = "the operator works"

	// ProcessName is what its CPU is counted as.
	ProcessName = "operator"

	stopTimeout = 30 * time.Second
)

// Start runs the operator as a process of the control plane until stop is called, and returns when it works. The kubeconfig is
// that of the control plane, and Started is not called.
func Start(ctx context.Context, g *ground.Ground, options Options) (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(g.Dir, "logs", ProcessName+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the operator's log: %w", err)
	}
	defer log.Close()
	command := exec.Command(self, Command, "--kubeconfig="+g.Kubeconfig(), fmt.Sprintf("--workers=%d", options.Workers), "--namespace="+options.Namespace)
	command.Stderr = log
	said, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("reading what the operator says: %w", err)
	}
	ended, err := g.StartServer(ProcessName, command)
	if err != nil {
		return nil, err
	}
	stop = func() error {
		g.ForgetServer(ProcessName)
		if err := command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stopping the operator: %w", err)
		}
		select {
		case err := <-ended:
			if err != nil {
				return fmt.Errorf("the operator did not end well, see %s: %w", log.Name(), err)
			}
			return nil
		case <-time.After(stopTimeout):
			return errors.Join(errors.New("the operator does not end"), command.Process.Kill())
		}
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || line != StartedLine+"\n" {
		return nil, errors.Join(fmt.Errorf("the operator does not work, see %s: it said %q", log.Name(), line), err, stop())
	}
	return stop, nil
}
