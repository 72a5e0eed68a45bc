// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Administrator is the user of the control plane's administrator.
const Administrator = "kubernetes-admin"

// Kubectl is kubectl in a namespace, as administrator.
type Kubectl struct{ n *Namespace }

// Run runs kubectl in the namespace and returns what it prints. The test fails when the command does.
func (k Kubectl) Run(arguments ...string) string {
	k.n.T.Helper()
	return k.RunWithInput("", arguments...)
}

// RunWithInput is Run with something on the standard input.
func (k Kubectl) RunWithInput(stdin string, arguments ...string) string {
	k.n.T.Helper()
	run := RunKubectl(k.Command(arguments...), stdin)
	if run.Err != nil {
		k.n.T.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), run.Err, run.Stderr)
	}
	return run.Stdout
}

// RunFailing runs kubectl in the namespace and returns what it complains of. The test fails when the command
// does not.
func (k Kubectl) RunFailing(stdin string, arguments ...string) string {
	k.n.T.Helper()
	run := RunKubectl(k.Command(arguments...), stdin)
	if run.Err == nil {
		k.n.T.Fatalf("kubectl %s was not refused:\n%s", strings.Join(arguments, " "), run.Stdout)
	}
	return run.Stderr
}

// RunAtEnd runs kubectl in the namespace when the test ends, however it does.
func (k Kubectl) RunAtEnd(arguments ...string) {
	k.n.T.Cleanup(func() {
		// The test's own context has ended by now.
		ended := *k.n
		ended.Ctx = context.WithoutCancel(k.n.Ctx)
		if run := RunKubectl(Kubectl{&ended}.Command(arguments...), ""); run.Err != nil {
			k.n.T.Errorf("kubectl %s: %v\n%s", strings.Join(arguments, " "), run.Err, run.Stderr)
		}
	})
}

// Command is kubectl in the namespace.
func (k Kubectl) Command(arguments ...string) *exec.Cmd {
	return k.n.ControlPlane.KubectlCommand(k.n.Ctx, append([]string{"--namespace=" + k.n.Name}, arguments...)...)
}

// ApplyAs applies box "web" as a field manager.
func (k Kubectl) ApplyAs(manager, spec string, flags ...string) {
	k.n.T.Helper()
	k.RunWithInput(Manifest(spec), ServerSideApply(manager, flags)...)
}

// AwaitAllowed waits until the cluster has learnt of a binding that gives the user that right, such as "get pods".
func (k Kubectl) AwaitAllowed(user, right string) {
	k.n.T.Helper()
	k.n.Eventually(user+" may "+right, func() error {
		run := RunKubectl(k.Command(append([]string{"auth", "can-i", "--as=" + user}, strings.Fields(right)...)...), "")
		if strings.TrimSpace(run.Stdout) != "yes" {
			return fmt.Errorf("kubectl says %q %s", run.Stdout, run.Stderr)
		}
		return nil
	})
}

// KubectlCommand is kubectl as administrator of the control plane, whatever the environment says of clusters.
func (p *ControlPlane) KubectlCommand(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, Binary("kubectl"), append([]string{
		"--kubeconfig=" + p.Kubeconfig(),
		"--cache-dir=" + filepath.Join(p.Dir, "run", "kubectl-cache"),
	}, arguments...)...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "KUBE")
	})
	command.Env = append(command.Env, "KUBERC=off")
	return command
}

// KubectlResult is what became of one kubectl command.
type KubectlResult struct {
	Stdout, Stderr string
	Err            error
}

// RunKubectl runs the command with that on its standard input.
func RunKubectl(command *exec.Cmd, stdin string) KubectlResult {
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := command.Run()
	return KubectlResult{stdout.String(), stderr.String(), err}
}

// Manifest is box "web" with what a test adds to its spec.
func Manifest(spec string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {%s}}", spec)
}

// ServerSideApply are the arguments of kubectl for applying its standard input as a field manager.
func ServerSideApply(manager string, flags []string) []string {
	return append([]string{"apply", "--server-side", "--field-manager=" + manager, "--filename=-"}, flags...)
}
