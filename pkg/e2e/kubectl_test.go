// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// kubectlCommand is kubectl as administrator of the control plane, whatever the environment says of clusters.
func (p *controlPlane) kubectlCommand(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, binary("kubectl"), append([]string{
		"--kubeconfig=" + p.kubeconfig(),
		"--cache-dir=" + filepath.Join(p.dir, "run", "kubectl-cache"),
	}, arguments...)...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "KUBE")
	})
	command.Env = append(command.Env, "KUBERC=off")
	return command
}

// kubectlRun is what became of one kubectl command.
type kubectlRun struct {
	stdout, stderr string
	err            error
}

func runKubectl(command *exec.Cmd, stdin string) kubectlRun {
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := command.Run()
	return kubectlRun{stdout.String(), stderr.String(), err}
}

// kubectl runs kubectl in the namespace and returns what it prints. The test fails when the command does.
func (n *namespace) kubectl(arguments ...string) string {
	n.t.Helper()
	return n.kubectlWith("", arguments...)
}

// kubectlWith is kubectl with something on its standard input.
func (n *namespace) kubectlWith(stdin string, arguments ...string) string {
	n.t.Helper()
	run := runKubectl(n.kubectlCommand(arguments...), stdin)
	if run.err != nil {
		n.t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), run.err, run.stderr)
	}
	return run.stdout
}

// kubectlRefused runs kubectl in the namespace and returns what it complains of. The test fails when the command
// does not.
func (n *namespace) kubectlRefused(stdin string, arguments ...string) string {
	n.t.Helper()
	run := runKubectl(n.kubectlCommand(arguments...), stdin)
	if run.err == nil {
		n.t.Fatalf("kubectl %s was not refused:\n%s", strings.Join(arguments, " "), run.stdout)
	}
	return run.stderr
}

func (n *namespace) kubectlCommand(arguments ...string) *exec.Cmd {
	return n.plane.kubectlCommand(n.ctx, append([]string{"--namespace=" + n.name}, arguments...)...)
}
