// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import "testing"

const servingSpec = "image: 'nginx:1.7.9', ports: [{port: 80}]"

// expectProbes checks which of the readiness, the liveness and the startup probe the main container of box "web" has.
func (n *namespace) expectProbes(want ...bool) {
	n.t.Helper()
	n.awaitApplied("web")
	container := n.deployment("web").Spec.Template.Spec.Containers[0]
	got := []bool{container.ReadinessProbe != nil, container.LivenessProbe != nil, container.StartupProbe != nil}
	expectEqual(n.t, "readiness, liveness and startup probe", want, got)
}

// TestDisabledDefaultProbesPatched: what is switched off stays so when other fields are written, and comes back when it
// is not switched off any more.
func TestDisabledDefaultProbesPatched(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.kubectlWith(boxManifest(servingSpec+", disabledDefaultProbes: [Startup]"), "apply", "--filename=-")
	n.expectProbes(true, true, false)
	n.kubectl("patch", "modelbox/web", "--type=merge", `--patch={"spec":{"image":"nginx:1.8"}}`)
	n.expectProbes(true, true, false)
	n.kubectl("patch", "modelbox/web", "--type=strategic", `--patch={"spec":{"disabledDefaultProbes":["Readiness"]}}`)
	n.expectProbes(false, true, true)
	n.kubectlWith(boxManifest(servingSpec+", disabledDefaultProbes: [Startup]"), "apply", "--filename=-")
	n.expectProbes(true, true, false)
	n.kubectlWith(boxManifest(servingSpec), "apply", "--filename=-")
	n.expectProbes(true, true, true)
}

// TestDisabledDefaultProbesApplied: each field manager switches off its own.
func TestDisabledDefaultProbesApplied(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.applyAs("alice", servingSpec+", disabledDefaultProbes: [Startup]")
	n.expectProbes(true, true, false)
	n.applyAs("bob", "disabledDefaultProbes: [Readiness]")
	n.expectProbes(false, true, false)
	n.applyAs("alice", servingSpec)
	n.expectProbes(false, true, true)
	n.applyAs("bob", "disabledDefaultProbes: []")
	n.expectProbes(true, true, true)
}
