// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"fmt"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// foreignDefinitions returns the arguments of kubectl for the CustomResourceDefinitions of the kinds in artifacts/components, from
// the modules of their projects.
func foreignDefinitions(t *testing.T) []string {
	t.Helper()
	var arguments []string
	for _, from := range []struct {
		folder, module, definitions string
		names                       []string
	}{
		{"hack/certmanager", "github.com/cert-manager/cert-manager", "deploy/crds",
			[]string{"cert-manager.io_certificates.yaml", "cert-manager.io_issuers.yaml"}},
		{"hack/prometheus", "github.com/prometheus-operator/prometheus-operator", "example/prometheus-operator-crd",
			[]string{"monitoring.coreos.com_prometheusrules.yaml", "monitoring.coreos.com_servicemonitors.yaml"}},
	} {
		for _, name := range from.names {
			arguments = append(arguments, "--filename="+framework.InModule(t, from.folder, from.module, from.definitions, name))
		}
	}
	return arguments
}

// TestClusterWithForeignKindsTakesEveryComponent is the only test that defines these kinds. It installs nothing, because the
// control plane already has a server.
func TestClusterWithForeignKindsTakesEveryComponent(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	definitions := foreignDefinitions(t)
	n.Kubectl.Run(append([]string{"create"}, definitions...)...)
	n.Kubectl.RunAtEnd(append([]string{"delete"}, definitions...)...)
	n.Kubectl.Run(append([]string{"wait", "--for=condition=Established", "--timeout=" + framework.Patience.String()}, definitions...)...)

	n.Eventually("the cluster takes everything", func() error {
		// Each object has a separate namespace.
		apply := n.ControlPlane.KubectlCommand(n.Ctx, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict",
			"--kustomize="+framework.InRepository("hack", "clients", "chart", "testdata", "everything"))
		if output, err := apply.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, output)
		}
		return nil
	})
}
