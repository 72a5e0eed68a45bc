// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// shop is the manifest of a stack of a database, its dependant, and an external component.
const shop = `{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {components: [
  {name: db, box: {image: "` + framework.Image + `", minReadySeconds: 0, workload: StatefulSet, ports: [{port: 3306}]}},
  {name: web, dependsOn: [db], box: {image: "` + framework.Image + `", minReadySeconds: 0, replicas: 2, ports: [{port: 80}]}},
  {name: mail, external: {host: mail.example.com, port: 25}}]}}`

// command returns a kubectl command whose arguments begin with the plugin. Its flags must follow the name of the plugin.
func command(n *framework.Namespace, arguments ...string) *exec.Cmd {
	command := n.Kubectl.Command()
	command.Args = append([]string{command.Args[0]}, arguments...)
	command.Env = append(command.Env,
		"PATH="+filepath.Dir(framework.Binary("kubectl"))+":"+os.Getenv("PATH"), "KUBECONFIG="+n.ControlPlane.Kubeconfig())
	return command
}

// modelbox runs "kubectl modelbox" in the namespace.
func modelbox(n *framework.Namespace, arguments ...string) framework.KubectlResult {
	n.T.Helper()
	// Insert the flag first, because it must not follow "--".
	given := append([]string{"modelbox", arguments[0], "--namespace=" + n.Name}, arguments[1:]...)
	return framework.RunKubectl(command(n, given...), "")
}

// run runs a command that must succeed, and returns its output.
func run(n *framework.Namespace, arguments ...string) string {
	n.T.Helper()
	result := modelbox(n, arguments...)
	if result.Err != nil {
		n.T.Fatalf("kubectl modelbox %s: %v\n%s%s", strings.Join(arguments, " "), result.Err, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// expectFailure runs a command that must fail with these words in its error output, in the format of kubectl.
func expectFailure(n *framework.Namespace, words []string, arguments ...string) {
	n.T.Helper()
	result := modelbox(n, arguments...)
	failed, ok := result.Err.(*exec.ExitError)
	if !ok || failed.ExitCode() != 1 || !framework.ContainsAll(result.Stderr, words) {
		n.T.Errorf("kubectl modelbox %s: %v, want exit code 1 and %q\n%s%s", strings.Join(arguments, " "), result.Err, words, result.Stdout, result.Stderr)
	}
}

// newUser grants a new user of the namespace permissions, such as "get pods", and returns the name of the user.
func newUser(n *framework.Namespace, permissions ...string) string {
	n.T.Helper()
	user := "user-of-" + n.Name
	for i, permission := range permissions {
		verb, resource, _ := strings.Cut(permission, " ")
		name := strings.NewReplacer(",", "-", "/", "-").Replace("permission-" + string(rune('a'+i)))
		n.Kubectl.Run("create", "role", name, "--verb="+verb, "--resource="+resource)
		n.Kubectl.Run("create", "rolebinding", name, "--role="+name, "--user="+user)
		for one := range strings.SplitSeq(verb, ",") {
			first, _, _ := strings.Cut(resource, ",")
			n.Kubectl.AwaitAllowed(user, one+" "+first)
		}
	}
	return user
}

// newBox creates a box and waits until it is ready.
func newBox(t *testing.T, name string) *framework.Namespace {
	t.Helper()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox(name, framework.WithReplicas(2)))
	n.AwaitReady(name)
	return n
}
