// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
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
	// runbookBlock matches a code block of a runbook.
	runbookBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	// podLogs matches commands that need a running pod. The server of a local control plane does not run in a pod.
	podLogs = regexp.MustCompile(`^kubectl .* logs deployment/`)
)

// TestRunbookCommandsSucceed does not run in parallel, because some of the commands restart the Deployment of the server and delete
// its Secret. The Deployment only represents the server in this test.
func TestRunbookCommandsSucceed(t *testing.T) {
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	inSystem := "--namespace=modelbox-system"
	n.Kubectl.Run("create", "deployment", "modelbox-apiserver", "--image=modelbox-apiserver:latest", inSystem)
	n.Kubectl.Run("patch", "deployment/modelbox-apiserver", inSystem, "--type=json",
		`--patch=[{"op": "add", "path": "/spec/template/spec/containers/0/args", "value": ["--data-dir=/var/lib/modelbox"]}]`)
	n.Kubectl.RunAtEnd("delete", "deployment/modelbox-apiserver", inSystem)
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

// runbookFunctions are shell functions: kubectl with its flags, which must follow the name of a plugin, and the functions of
// docs/operate/README.md. kubectl exec in the pod of the server runs the command on this machine.
const runbookFunctions = `
kubectl() {
  local i
  if [[ "$1" == modelbox ]]; then
    %[4]s "${@:2}" %[5]s
    return
  fi
  for ((i = 1; i <= $#; i++)); do
    if [[ "${!i}" == exec ]]; then
      "${@:i+3}"
      return
    fi
  done
  command %[1]s "$@"
}
server() { kubectl --server=%[2]s --certificate-authority=%[3]s "$@"; }
`

// runbookShell returns a function that runs a command as an administrator with the functions of docs/operate/README.md. It replaces
// the namespace shop by the namespace of the test, and the volume of the server by its data directory.
func runbookShell(n *framework.Namespace) func(command string) (string, error) {
	service := n.ControlPlane.ReadAPIService(n.T)
	bundle := filepath.Join(n.T.TempDir(), "ca.crt")
	if err := os.WriteFile(bundle, service.Spec.CABundle, 0o600); err != nil {
		n.T.Fatal(err)
	}
	kubectl := n.ControlPlane.KubectlCommand(n.Ctx)
	definitions := fmt.Sprintf(runbookFunctions, strings.Join(kubectl.Args, " "), n.ControlPlane.ServerHost(service), bundle,
		framework.Binary("kubectl-modelbox"), strings.Join(kubectl.Args[1:], " "))
	data := filepath.Join(n.ControlPlane.Dir, "modelbox", "data")
	for _, left := range []string{"by-hand.db", "restored"} {
		n.T.Cleanup(func() {
			if err := os.RemoveAll(filepath.Join(data, left)); err != nil {
				n.T.Error(err)
			}
		})
	}
	replacer := strings.NewReplacer("--namespace=shop", "--namespace="+n.Name, "-- /modelbox-apiserver", "-- "+framework.Binary("modelbox-apiserver"))
	inPod := strings.NewReplacer("/var/lib/modelbox", data)
	return func(command string) (string, error) {
		command = replacer.Replace(command)
		if strings.Contains(command, " exec ") {
			command = inPod.Replace(command)
		}
		run := exec.CommandContext(n.Ctx, "bash", "-o", "errexit", "-o", "pipefail", "-c", definitions+command)
		run.Env = kubectl.Env
		output, err := run.CombinedOutput()
		return string(output), err
	}
}
