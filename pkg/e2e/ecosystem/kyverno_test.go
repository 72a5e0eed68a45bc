// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"fmt"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestKyverno(t *testing.T) {
	testPolicies(t, "kyverno", startKyverno, kyvernoMutations)
}

const kyvernoMutations = `
apiVersion: policies.kyverno.io/v1beta1
kind: MutatingPolicy
metadata: {name: team}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [model.github.com], apiVersions: [v1], resources: [modelboxes], operations: [CREATE, UPDATE]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: Object.metadata.labels{team: "a"}}}'}
---
apiVersion: policies.kyverno.io/v1beta1
kind: MutatingPolicy
metadata: {name: share-processes}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: '[JSONPatch{op: "add", path: "/spec/template/spec/shareProcessNamespace", value: true}]'}
`

// startKyverno installs Kyverno with its own manifest, and starts its admission controller beside the control plane. It is stopped at the
// end of the test. The pods of its Deployment are simulated and do nothing.
func startKyverno(n *framework.Namespace) {
	n.T.Helper()
	administrate(n, "", "apply", "--server-side", "--filename="+framework.Binary("kyverno.yaml"))
	port := framework.FreePort(n.T)
	command := n.ControlPlane.ProgramCommand(n.T.Context(), "kyverno", "--kubeconfig="+n.ControlPlane.Kubeconfig(),
		fmt.Sprintf("--serverIP=127.0.0.1:%d", port), "--webhookServerHost=127.0.0.1", fmt.Sprintf("--webhookServerPort=%d", port),
		"--caSecretName=kyverno-ca", "--tlsSecretName=kyverno-tls", "--disableMetrics", "--controllerRuntimeMetricsAddress=0", "--v=2",
		"--backgroundServiceAccountName=system:serviceaccount:kyverno:kyverno-background-controller",
		"--reportsServiceAccountName=system:serviceaccount:kyverno:kyverno-reports-controller")
	command.Env = append(command.Env, "KYVERNO_NAMESPACE=kyverno", "KYVERNO_SERVICEACCOUNT_NAME=kyverno-admission-controller",
		"KYVERNO_ROLE_NAME=kyverno:admission-controller", "KYVERNO_DEPLOYMENT=kyverno-admission-controller", "KYVERNO_POD_NAME=kyverno",
		"KYVERNO_SVC=kyverno-svc", "INIT_CONFIG=kyverno", "METRICS_CONFIG=kyverno-metrics")
	startProgram(n.T, command)
}
