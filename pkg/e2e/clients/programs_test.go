// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// programCommand returns a command of a program of hack/clients as administrator of the control plane.
func programCommand(n *framework.Namespace, program string, arguments ...string) *exec.Cmd {
	n.T.Helper()
	if _, err := os.Stat(framework.Binary(program)); err != nil {
		n.T.Fatalf("%s is missing: run make clients first", framework.Binary(program))
	}
	return n.ControlPlane.ProgramCommand(n.Ctx, program, arguments...)
}

// runProgram runs a program of hack/clients and returns its output. It fails the test if the program fails.
func runProgram(n *framework.Namespace, program string, arguments ...string) string {
	n.T.Helper()
	output, err := programCommand(n, program, arguments...).Output()
	if err != nil {
		n.T.Fatalf("%s %s: %v\n%s%s", program, strings.Join(arguments, " "), err, output, complaintOf(err))
	}
	return string(output)
}

// runFailingProgram runs a program of hack/clients and returns its error output. It fails the test if the program succeeds.
func runFailingProgram(n *framework.Namespace, program string, arguments ...string) string {
	n.T.Helper()
	output, err := programCommand(n, program, arguments...).Output()
	if err == nil {
		n.T.Fatalf("%s %s did not fail:\n%s", program, strings.Join(arguments, " "), output)
	}
	return complaintOf(err)
}

// complaintOf returns the error output of a failed program.
func complaintOf(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(exit.Stderr)
	}
	return err.Error()
}
