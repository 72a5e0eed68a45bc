// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// administrate runs kubectl with a standard input for objects of all namespaces, and returns its output.
func administrate(n *framework.Namespace, stdin string, arguments ...string) string {
	n.T.Helper()
	run := framework.RunKubectl(n.ControlPlane.KubectlCommand(n.Ctx, arguments...), stdin)
	if run.Err != nil {
		n.T.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), run.Err, run.Stderr)
	}
	return run.Stdout
}

// awaitApplied applies manifests for objects of all namespaces until kubectl succeeds. They may need a kind that is not served yet.
func awaitApplied(n *framework.Namespace, manifests string, flags ...string) {
	n.T.Helper()
	n.Eventually("the manifests are applied", func() error {
		command := n.ControlPlane.KubectlCommand(n.Ctx, append([]string{"apply", "--filename=-"}, flags...)...)
		if applied := framework.RunKubectl(command, manifests); applied.Err != nil {
			return fmt.Errorf("%w: %s", applied.Err, applied.Stderr)
		}
		return nil
	})
}

// stackManifest returns the manifest of a stack with one component, "api", with the fields of the spec of its box.
func stackManifest(name, spec string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: %s}, "+
		"spec: {components: [{name: api, box: {%s}}]}}", name, spec)
}

// program is a running program.
type program struct {
	log string
	// stop stops the program. It is called at the end of the test at the latest.
	stop func()
}

// startProgram starts a program, and stops it at the end of the test. If the test fails, it prints the end of the program's log.
func startProgram(t *testing.T, command *exec.Cmd) program {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	ended, err := framework.StartLoggedProcess(command, log, syscall.SIGKILL)
	if err != nil {
		t.Fatalf("starting %s: %v", command.Path, err)
	}
	stop := sync.OnceFunc(func() {
		_ = command.Process.Kill()
		<-ended
	})
	t.Cleanup(func() {
		stop()
		if content, err := os.ReadFile(log); t.Failed() && err == nil {
			t.Logf("end of the log of %s:\n%s", filepath.Base(command.Path), content[max(0, len(content)-maxLog):])
		}
	})
	return program{log, stop}
}

// maxLog limits how many bytes of a log are printed.
const maxLog = 10_000

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
