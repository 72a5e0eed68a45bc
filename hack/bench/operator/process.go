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

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/testbed"
)

const (
	// Command is the subcommand of this program that runs the operator.
	Command = "operator"
	// StartedLine is what it prints when it works.
	StartedLine = "the operator works"

	// ProcessName is what its CPU is counted as.
	ProcessName = "operator"
)

// Start runs the operator as a process of the control plane until stop is called, and returns when it works. It uses the kubeconfig
// of the control plane, and does not call Started.
func Start(ctx context.Context, bed *testbed.Testbed, options Options) (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	command := exec.Command(self, Command, "--kubeconfig="+bed.Kubeconfig(), fmt.Sprintf("--workers=%d", options.Workers), "--namespace="+options.Namespace)
	said, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("reading what the operator says: %w", err)
	}
	stop, err = bed.RunServer(ProcessName, command)
	if err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || line != StartedLine+"\n" {
		return nil, errors.Join(fmt.Errorf("the operator does not work, see its log in %s: it said %q", bed.Dir, line), err, stop())
	}
	return stop, nil
}
