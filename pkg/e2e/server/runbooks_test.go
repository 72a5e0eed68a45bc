// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

var (
	// runbookBlock is code of a runbook that can be run as it is.
	runbookBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	// podLogs are commands that need a pod that really runs, which no server of a local control plane is in.
	podLogs = regexp.MustCompile(`^kubectl .* logs deployment/`)
)

// TestRunbookCommandsSucceed does not run in parallel: some of the commands restart the Deployment of the server, which stands
// for it here, and delete its Secret.
func TestRunbookCommandsSucceed(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	inSystem := "--namespace=modelbox-system"
	n.Kubectl.Run("create", "deployment", "modelbox-apiserver", "--image=modelbox-apiserver:latest", inSystem)
	t.Cleanup(func() {
		deletion := n.ControlPlane.KubectlCommand(context.WithoutCancel(n.Ctx), "delete", "deployment/modelbox-apiserver", inSystem)
		if output, err := deletion.CombinedOutput(); err != nil {
			t.Errorf("deleting the Deployment: %v\n%s", err, output)
		}
	})
	shell := runbookShell(n)

	files, err := filepath.Glob(framework.InRepository("docs", "operate", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	done := sets.New[string]()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range runbookBlock.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(block[1]) {
				command := strings.TrimSpace(line)
				if podLogs.MatchString(command) || done.Has(command) {
					continue
				}
				done.Insert(command)
				if output, err := shell(command); err != nil {
					t.Errorf("%s: %s\n%v\n%s", filepath.Base(file), command, err, output)
				}
			}
		}
	}
	if len(done) == 0 {
		t.Error("the runbooks have no commands")
	}
}

// runbookShell returns what runs a command as an administrator who has defined what docs/operate/README.md defines. What the
// runbooks call the namespace shop is that of the test.
func runbookShell(n *framework.Namespace) func(command string) (string, error) {
	service := n.ControlPlane.ReadAPIService(n.T)
	bundle := filepath.Join(n.T.TempDir(), "ca.crt")
	if err := os.WriteFile(bundle, service.Spec.CABundle, 0o600); err != nil {
		n.T.Fatal(err)
	}
	kubectl := n.ControlPlane.KubectlCommand(n.Ctx)
	definitions := fmt.Sprintf("kubectl() { command %s \"$@\"; }\nserver() { kubectl --server=%s --certificate-authority=%s \"$@\"; }\n",
		strings.Join(kubectl.Args, " "), n.ControlPlane.ServerHost(service), bundle)
	return func(command string) (string, error) {
		run := exec.CommandContext(n.Ctx, "bash", "-o", "errexit", "-o", "pipefail", "-c",
			definitions+strings.ReplaceAll(command, "--namespace=shop", "--namespace="+n.Name))
		run.Env = kubectl.Env
		output, err := run.CombinedOutput()
		return string(output), err
	}
}
