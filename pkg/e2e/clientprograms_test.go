// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// clientCommand is one of the programs of hack/clients as administrator of the control plane, whatever the environment
// says of clusters and of the programs' own settings.
func (n *namespace) clientCommand(program string, arguments ...string) *exec.Cmd {
	n.t.Helper()
	if _, err := os.Stat(binary(program)); err != nil {
		n.t.Fatalf("%s is missing: run make clients first", binary(program))
	}
	command := exec.CommandContext(n.ctx, binary(program), arguments...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "KUBE") || strings.HasPrefix(variable, "HELM") || strings.HasPrefix(variable, "XDG")
	})
	command.Env = append(command.Env, "KUBECONFIG="+plane.kubeconfig(), "HOME="+filepath.Join(plane.dir, "run", "home"))
	return command
}

// client runs one of the programs of hack/clients and returns what it prints. The test fails when the program does.
func (n *namespace) client(program string, arguments ...string) string {
	n.t.Helper()
	output, err := n.clientCommand(program, arguments...).Output()
	if err != nil {
		n.t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(arguments, " "), err, output, complaintOf(err))
	}
	return string(output)
}

// clientFails runs one of the programs of hack/clients and returns what it complains of. The test fails when the
// program does not.
func (n *namespace) clientFails(program string, arguments ...string) string {
	n.t.Helper()
	output, err := n.clientCommand(program, arguments...).Output()
	if err == nil {
		n.t.Fatalf("%s %s did not fail:\n%s", program, strings.Join(arguments, " "), output)
	}
	return complaintOf(err)
}

// complaintOf is what a program that failed wrote about it.
func complaintOf(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(exit.Stderr)
	}
	return err.Error()
}
