// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/cert"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestGatekeeper(t *testing.T) {
	testPolicies(t, "gatekeeper", startGatekeeper, gatekeeperMutations)
}

const gatekeeperMutations = `
apiVersion: mutations.gatekeeper.sh/v1
kind: AssignMetadata
metadata: {name: team}
spec:
  match: {scope: Namespaced, kinds: [{apiGroups: [model.github.com], kinds: [ModelBox]}]}
  location: metadata.labels.team
  parameters: {assign: {value: a}}
---
apiVersion: mutations.gatekeeper.sh/v1
kind: Assign
metadata: {name: share-processes}
spec:
  applyTo: [{groups: [apps], versions: [v1], kinds: [Deployment]}]
  match: {scope: Namespaced}
  location: spec.template.spec.shareProcessNamespace
  parameters: {assign: {value: true}}
`

// startGatekeeper installs Gatekeeper with its own manifest, except that the webhooks lead to a process beside the control plane. It is
// stopped at the end of the test.
func startGatekeeper(n *framework.Namespace) {
	n.T.Helper()
	port, certificates := framework.FreePort(n.T), n.T.TempDir()
	bundle, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		n.T.Fatal(err)
	}
	writeFile(n.T, filepath.Join(certificates, "tls.crt"), bundle)
	writeFile(n.T, filepath.Join(certificates, "tls.key"), key)

	applyManifest(n, "gatekeeper.yaml", func(object *unstructured.Unstructured) {
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for _, webhook := range webhooks {
			webhook := webhook.(map[string]any)
			path, _, _ := unstructured.NestedString(webhook, "clientConfig", "service", "path")
			webhook["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d%s", port, path), "caBundle": bundle}
		}
		if webhooks != nil {
			object.Object["webhooks"] = webhooks
		}
	})
	command := n.ControlPlane.ProgramCommand(n.T.Context(), "gatekeeper", "--host=127.0.0.1", fmt.Sprintf("--port=%d", port),
		"--cert-dir="+certificates, "--disable-cert-rotation", "--debug-use-fake-pod", "--logtostderr", "--audit-interval=0",
		"--health-addr="+freeAddress(n.T), fmt.Sprintf("--prometheus-port=%d", framework.FreePort(n.T)))
	command.Env = append(command.Env, "POD_NAME=gatekeeper", "POD_NAMESPACE=gatekeeper-system", "NAMESPACE=gatekeeper-system", "CONTAINER_NAME=manager")
	startProgram(n.T, command)
}

// applyManifest applies the objects of a manifest beside the programs after a change of each of them.
func applyManifest(n *framework.Namespace, file string, change func(*unstructured.Unstructured)) {
	n.T.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(readFile(n.T, framework.Binary(file))), 4096)
	var changed strings.Builder
	for {
		var object unstructured.Unstructured
		if err := decoder.Decode(&object.Object); err == io.EOF {
			break
		} else if err != nil {
			n.T.Fatalf("reading %s: %v", file, err)
		}
		change(&object)
		content, err := object.MarshalJSON()
		if err != nil {
			n.T.Fatalf("writing %s: %v", file, err)
		}
		changed.Write(content)
	}
	administrate(n, changed.String(), "apply", "--server-side", "--filename=-")
}
