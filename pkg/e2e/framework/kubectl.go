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

// Administrator is the user name of the administrator of the control plane.
const Administrator = "kubernetes-admin"

// Kubectl runs kubectl in a namespace as administrator.
type Kubectl struct{ n *Namespace }

// Run runs kubectl in the namespace and returns its output. It fails the test if the command fails.
func (k Kubectl) Run(arguments ...string) string {
	k.n.T.Helper()
	return k.RunWithInput("", arguments...)
}

// RunWithInput is like Run, with a standard input.
func (k Kubectl) RunWithInput(stdin string, arguments ...string) string {
	k.n.T.Helper()
	run := RunKubectl(k.Command(arguments...), stdin)
	if run.Err != nil {
		k.n.T.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), run.Err, run.Stderr)
	}
	return run.Stdout
}

// RunFailing runs kubectl in the namespace and returns its error output. It fails the test if the command succeeds.
func (k Kubectl) RunFailing(stdin string, arguments ...string) string {
	k.n.T.Helper()
	run := RunKubectl(k.Command(arguments...), stdin)
	if run.Err == nil {
		k.n.T.Fatalf("kubectl %s was not refused:\n%s", strings.Join(arguments, " "), run.Stdout)
	}
	return run.Stderr
}

// RunAtEnd runs kubectl in the namespace at the end of the test, even if the test fails.
func (k Kubectl) RunAtEnd(arguments ...string) {
	k.n.T.Cleanup(func() {
		// The context of the test is already done.
		ended := *k.n
		ended.Ctx = context.WithoutCancel(k.n.Ctx)
		if run := RunKubectl(Kubectl{&ended}.Command(arguments...), ""); run.Err != nil {
			k.n.T.Errorf("kubectl %s: %v\n%s", strings.Join(arguments, " "), run.Err, run.Stderr)
		}
	})
}

// Command returns a kubectl command in the namespace.
func (k Kubectl) Command(arguments ...string) *exec.Cmd {
	return k.n.ControlPlane.KubectlCommand(k.n.Ctx, append([]string{"--namespace=" + k.n.Name}, arguments...)...)
}

// ApplyAs applies box "web" as a field manager.
func (k Kubectl) ApplyAs(manager, spec string, flags ...string) {
	k.n.T.Helper()
	k.RunWithInput(Manifest(spec), ServerSideApply(manager, flags)...)
}

// AwaitAllowed waits until the cluster grants the user a permission, such as "get pods".
func (k Kubectl) AwaitAllowed(user, permission string) {
	k.n.T.Helper()
	k.n.Eventually(user+" may "+permission, func() error {
		run := RunKubectl(k.Command(append([]string{"auth", "can-i", "--as=" + user}, strings.Fields(permission)...)...), "")
		if strings.TrimSpace(run.Stdout) != "yes" {
			return fmt.Errorf("kubectl says %q %s", run.Stdout, run.Stderr)
		}
		return nil
	})
}

// KubectlCommand returns a kubectl command as administrator of the control plane. It ignores a kubeconfig in the environment.
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

// KubectlResult is the result of a kubectl command.
type KubectlResult struct {
	Stdout, Stderr string
	Err            error
}

// RunKubectl runs the command with the standard input.
func RunKubectl(command *exec.Cmd, stdin string) KubectlResult {
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := command.Run()
	return KubectlResult{stdout.String(), stderr.String(), err}
}

// Manifest returns the manifest of box "web" with additional fields in its spec.
func Manifest(spec string) string { return BoxManifest("web", spec) }

// BoxManifest returns the manifest of a box with the fields of its spec, for example "image: nginx, replicas: 2".
func BoxManifest(name, spec string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: %s}, spec: {%s}}", name, spec)
}

// ServerSideApply returns the arguments of kubectl to apply its standard input as a field manager.
func ServerSideApply(manager string, flags []string) []string {
	return append([]string{"apply", "--server-side", "--field-manager=" + manager, "--filename=-"}, flags...)
}
