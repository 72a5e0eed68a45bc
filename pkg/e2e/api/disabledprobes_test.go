// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const servingSpec = "image: 'nginx:1.7.9', ports: [{port: 80}]"

// expectProbes checks whether the main container of box "web" has a readiness, liveness and startup probe.
func expectProbes(n *framework.Namespace, want ...bool) {
	n.T.Helper()
	n.AwaitApplied("web")
	container := n.GetDeployment("web").Spec.Template.Spec.Containers[0]
	got := []bool{container.ReadinessProbe != nil, container.LivenessProbe != nil, container.StartupProbe != nil}
	framework.ExpectEqual(n.T, "readiness, liveness and startup probe", want, got)
}

// TestDisabledDefaultProbesSurviveOtherPatches checks that disabled probes stay disabled after writes of other fields, and are
// injected again after they are enabled.
func TestDisabledDefaultProbesSurviveOtherPatches(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.RunWithInput(framework.Manifest(servingSpec+", disabledDefaultProbes: [Startup]"), "apply", "--filename=-")
	expectProbes(n, true, true, false)
	n.Kubectl.Run("patch", "modelbox/web", "--type=merge", `--patch={"spec":{"image":"nginx:1.8"}}`)
	expectProbes(n, true, true, false)
	n.Kubectl.Run("patch", "modelbox/web", "--type=strategic", `--patch={"spec":{"disabledDefaultProbes":["Readiness"]}}`)
	expectProbes(n, false, true, true)
	n.Kubectl.RunWithInput(framework.Manifest(servingSpec+", disabledDefaultProbes: [Startup]"), "apply", "--filename=-")
	expectProbes(n, true, true, false)
	n.Kubectl.RunWithInput(framework.Manifest(servingSpec), "apply", "--filename=-")
	expectProbes(n, true, true, true)
}

// TestDisabledDefaultProbesAreMergedByFieldManager checks that each field manager can disable a probe.
func TestDisabledDefaultProbesAreMergedByFieldManager(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.ApplyAs("alice", servingSpec+", disabledDefaultProbes: [Startup]")
	expectProbes(n, true, true, false)
	n.Kubectl.ApplyAs("bob", "disabledDefaultProbes: [Readiness]")
	expectProbes(n, false, true, false)
	n.Kubectl.ApplyAs("alice", servingSpec)
	expectProbes(n, false, true, true)
	n.Kubectl.ApplyAs("bob", "disabledDefaultProbes: []")
	expectProbes(n, true, true, true)
}
